"""paddock move: tasks to another queue."""

from __future__ import annotations

from collections.abc import Sequence

import click

from paddock.cli.command import Session, verb
from paddock.cli.ordered import Done, tell
from paddock.cli.queued import ask_about, chosen, open_to_change, selection_options
from paddock.errors import Refused, UsageError
from paddock.queue.directory import DirectoryQueue
from paddock.queue.finding import find_queue, remember
from paddock.queue.lifecycle import PAUSED, QUEUED
from paddock.queue.order.selection import Selection
from paddock.queue.order.transfer import MOVABLE, check, refuse_unfit, transfer
from paddock.queue.protocol import Queue
from paddock.queue.show.view import Entry, snapshot

_HELP = """Move tasks to another queue, with all their history. What runs cannot be moved.

\b
  paddock move TASK --to gpu
  paddock move --state queued --to /shared/queues/night

A task goes together with those that wait for it, and those that it still waits for. The other queue may be on another
disk, or in a Redis.
"""


@verb("move", help=_HELP)
@selection_options
@click.option(
    "--to", "target", required=True, metavar="NAME|PATH|URL", help="The queue that they go to; made if missing."
)
def move(
    session: Session,
    selection: Selection,
    queue: str | None,
    yes: bool,
    target: str,
) -> None:
    source = open_to_change(session, queue, selection.words)
    there = find_queue(target, session.home)
    entries = chosen(session, source, selection, MOVABLE)
    if _same(source, there):
        raise UsageError(f"{entries[0].id} is in {source.name} already.", hint="--to names another queue.")
    known = {place.id: place.state for place in there.list().places} if there.exists() else {}
    settled = check(entries, snapshot(source).by_id(), known)
    for entry in entries:
        _ = entry.title  # read now: the file will be elsewhere
    refuse_unfit(entries, there)
    ask_about(session.out, entries, selection, yes, f"Move to {target}:")
    there.prepare()
    _ship(session, there, entries)
    steps, left = transfer(source, there, entries, settled)
    remember(there, session.home)
    if left and not steps:
        raise Refused(left[0])
    for sentence in left[:10]:
        session.out.note(f"Left out: {sentence}")
    by_id = {entry.id: entry for entry in entries}
    tell(session, [Done(by_id[step.id], step) for step in steps], "moved", f"moved to {target}")


def _same(source: Queue, there: Queue) -> bool:
    if isinstance(source, DirectoryQueue) and isinstance(there, DirectoryQueue):
        return there.exists() and there.path.samefile(source.path)
    return there.address == source.address


def _ship(session: Session, there: Queue, entries: Sequence[Entry]) -> None:
    """Workers of a Redis may not see the home: their code goes where they find it, as when it is submitted there."""
    if not there.abilities.apart:
        return
    from paddock.track.ship.road import ship_code

    codes = [entry.file.task.code for entry in entries if entry.file is not None and entry.state in (QUEUED, PAUSED)]
    for digest in dict.fromkeys(filter(None, codes)):
        ship_code(session.home, digest)

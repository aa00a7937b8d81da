"""paddock move: tasks to another queue."""

from __future__ import annotations

import click

from paddock.cli.command import Session, verb
from paddock.cli.ordered import Done, tell
from paddock.cli.queued import ask_about, chosen, open_to_change, selection_options
from paddock.errors import Refused, UsageError
from paddock.queue.directory import find_queue, remember
from paddock.queue.order.selection import Selection
from paddock.queue.order.transfer import MOVABLE, check, transfer
from paddock.queue.show.view import snapshot

_HELP = """Move tasks to another queue, with all their history. What runs cannot be moved.

\b
  paddock move TASK --to gpu
  paddock move --state queued --to /shared/queues/night

A task goes together with those that wait for it, and those that it still waits for. The other queue may be on another
disk.
"""


@verb("move", help=_HELP)
@selection_options
@click.option("--to", "target", required=True, metavar="NAME|PATH", help="The queue that they go to; made if missing.")
def move(
    session: Session,
    selection: Selection,
    queue: str | None,
    yes: bool,
    target: str,
) -> None:
    source = open_to_change(session, queue)
    there = find_queue(target, session.home)
    entries = chosen(session, source, selection, MOVABLE)
    if there.exists() and there.path.samefile(source.path):
        raise UsageError(f"{entries[0].id} is in {source.name} already.", hint="--to names another queue.")
    known = {place.id: place.state for place in there.list().places} if there.exists() else {}
    settled = check(entries, snapshot(source).by_id(), known)
    for entry in entries:
        _ = entry.title  # read now: the file will be elsewhere
    ask_about(session.out, entries, selection, yes, f"Move to {target}:")
    there.prepare()
    steps, left = transfer(source, there, entries, settled)
    remember(there, session.home)
    if left and not steps:
        raise Refused(left[0])
    for sentence in left[:10]:
        session.out.note(f"Left out: {sentence}")
    by_id = {entry.id: entry for entry in entries}
    tell(session, [Done(by_id[step.id], step) for step in steps], "moved", f"moved to {target}")

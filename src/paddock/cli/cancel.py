"""paddock cancel: take tasks out of a queue, and end those that run."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import click

from paddock.cli.command import Session, verb
from paddock.cli.engine import see_to
from paddock.cli.ordered import obey, tell
from paddock.cli.queued import open_to_change, selection_options
from paddock.cli.span import SPAN
from paddock.compare.text import many
from paddock.queue.lifecycle import CHECKING, PAUSED, QUEUED, Place
from paddock.queue.order import cancelling
from paddock.queue.order.orders import CANCEL
from paddock.queue.order.selection import Selection
from paddock.queue.protocol import Queue
from paddock.queue.show.view import Entry, snapshot

_LOOKED_AT = 2000  # waiting tasks
_HELP = """Take tasks out of the queue. What runs is killed with all its processes; cancel waits until none is left.

\b
  paddock cancel TASK TASK
  paddock cancel --regex 'lr=0.1'
  paddock cancel --state queued

The same as `rm` of the task's file. What the task printed and logged until now stays in its run. Tasks that wait for
the success of a cancelled one fail.
"""


@verb("cancel", help=_HELP)
@selection_options
@click.option("--no-wait", is_flag=True, help="Do not wait until the processes are gone.")
@click.option(
    "--timeout", type=SPAN, default="60s", show_default=True, metavar="TIME", help="Wait no longer than this."
)
def cancel(
    session: Session,
    selection: Selection,
    queue: str | None,
    yes: bool,
    no_wait: bool,
    timeout: float,
) -> None:
    found = open_to_change(session, queue, selection.words)
    warn = functools.partial(_warn, session, found)
    done = obey(session, found, CANCEL, selection, yes=yes, warn=warn)
    owned = [one.step.after for one in done if one.step.after is not None]
    left = cancelling.wait_until_over(
        found, owned, 0.0 if no_wait else timeout, functools.partial(_end_what_is_left, session, found)
    )
    if left and not no_wait:
        see_to(session, found)  # an engine ends the job of a worker that does not do it
    tell(session, done, "cancelled", "cancelled")
    if left and not no_wait:
        names = sorted({place.token.worker for place in left if place.token})
        session.out.note(
            f"{many(len(left), 'task')} not confirmed yet by {', '.join(names)}. Nobody takes them any more; a worker "
            "that lives ends them when it sees it, and one that cannot reach the disk ends them by itself."
        )


def _warn(session: Session, queue: Queue, entries: Sequence[Entry]) -> None:
    """Whom it will hurt. Not among so many that looking takes longer than the cancellation."""
    waiting = snapshot(queue, (QUEUED, PAUSED, CHECKING)).entries
    if len(waiting) > _LOOKED_AT or not session.out.human:
        return
    ids = {entry.id for entry in entries}
    hurt = [
        entry
        for entry in waiting
        if entry.id not in ids and entry.file and any(d.task in ids for d in entry.file.task.after)
    ]
    if hurt:
        names = ", ".join(entry.name or entry.id for entry in hurt[:3]) + (", ..." if len(hurt) > 3 else "")
        waits = "waits" if len(hurt) == 1 else "wait"
        session.out.note(f"{many(len(hurt), 'task')} {waits} for what is cancelled, and will fail: {names}.")


def _end_what_is_left(session: Session, queue: Queue, place: Place) -> None:
    from paddock.work.processes.burial import bury

    bury(session.home, queue, place)

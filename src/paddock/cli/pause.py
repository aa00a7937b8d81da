"""paddock pause: hold tasks; stop those that run."""

from __future__ import annotations

from paddock.cli.command import Session, verb
from paddock.cli.ordered import obey, tell
from paddock.cli.queued import open_to_change, selection_options
from paddock.queue.orders import PAUSE
from paddock.queue.selection import Selection

_HELP = """Hold tasks. One that runs is stopped where it is, with all its processes; it keeps its memory and its slot.

\b
  paddock pause TASK
  paddock pause --state queued

The same as `mv` of the task's file to paused/. `paddock resume` lets them go on.
"""


@verb("pause", help=_HELP)
@selection_options
def pause(
    session: Session,
    words: tuple[str, ...],
    queue: str | None,
    regex: str | None,
    states: tuple[str, ...],
    everything: bool,
    yes: bool,
) -> None:
    found = open_to_change(session, queue)
    done = obey(session, found, PAUSE, Selection(words, regex, states, everything), yes=yes)
    tell(session, done, "paused", "paused")

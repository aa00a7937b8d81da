"""paddock resume: let paused tasks go on."""

from __future__ import annotations

from paddock.cli.command import Session, verb
from paddock.cli.ordered import obey, tell
from paddock.cli.queued import open_to_change, selection_options
from paddock.queue.orders import RESUME
from paddock.queue.selection import Selection

_HELP = """Let paused tasks go on: a stopped one where it was, one that was held in the queue as it was.

\b
  paddock resume TASK
  paddock resume --all

The same as `mv` of the task's file from paused/ to active/ when its name has a worker in it, else to queued/.
"""


@verb("resume", help=_HELP)
@selection_options
def resume(
    session: Session,
    words: tuple[str, ...],
    queue: str | None,
    regex: str | None,
    states: tuple[str, ...],
    everything: bool,
    yes: bool,
) -> None:
    found = open_to_change(session, queue)
    done = obey(session, found, RESUME, Selection(words, regex, states, everything), yes=yes)
    tell(session, done, "resumed", "resumed")

"""paddock rerun: run tasks again that are done."""

from __future__ import annotations

from paddock.cli.command import Session, verb
from paddock.cli.ordered import obey, tell
from paddock.cli.queued import open_to_change, selection_options
from paddock.queue.orders import RERUN
from paddock.queue.selection import Selection

_HELP = """Run tasks again that are done, as further attempts of the same runs.

\b
  paddock rerun TASK
  paddock rerun --regex 'eval'

The same as `mv` of the task's file from done/ to queued/.
"""


@verb("rerun", help=_HELP)
@selection_options
def rerun(
    session: Session,
    words: tuple[str, ...],
    queue: str | None,
    regex: str | None,
    states: tuple[str, ...],
    everything: bool,
    yes: bool,
) -> None:
    found = open_to_change(session, queue)
    done = obey(session, found, RERUN, Selection(words, regex, states, everything), yes=yes)
    tell(session, done, "rerun", "queued again")

"""paddock retry: run failed tasks again."""

from __future__ import annotations

from paddock.cli.command import Session, verb
from paddock.cli.ordered import obey, tell
from paddock.cli.queued import open_to_change, selection_options
from paddock.queue.orders import RETRY
from paddock.queue.selection import Selection

_HELP = """Run failed tasks again. What became of the earlier attempts stays in the task's file and in its run.

\b
  paddock retry TASK
  paddock retry --all

The same as `mv` of the task's file from failed/ to queued/.
"""


@verb("retry", help=_HELP)
@selection_options
def retry(
    session: Session,
    words: tuple[str, ...],
    queue: str | None,
    regex: str | None,
    states: tuple[str, ...],
    everything: bool,
    yes: bool,
) -> None:
    found = open_to_change(session, queue)
    done = obey(session, found, RETRY, Selection(words, regex, states, everything), yes=yes)
    tell(session, done, "retried", "queued again")

"""paddock priority: which waiting tasks go first."""

from __future__ import annotations

import click

from paddock.cli.command import Session, verb
from paddock.cli.ordered import obey, tell
from paddock.cli.queued import open_to_change, selection_options
from paddock.errors import UsageError
from paddock.queue.lifecycle import MOST_PRIORITY as MOST
from paddock.queue.order.orders import PRIORITY
from paddock.queue.order.selection import Selection

_HELP = """Set the priority of waiting tasks: the higher goes first, of equal ones the older. 0 is the usual one.

\b
  paddock priority 10 TASK
  paddock priority -5 --regex 'baseline'

The same as `mv` of queued/TASK to queued/TASK@10.
"""


@verb("priority", help=_HELP, context_settings={"ignore_unknown_options": True})
@click.argument("number", type=int, metavar="N")
@selection_options
def priority(
    session: Session,
    number: int,
    selection: Selection,
    queue: str | None,
    yes: bool,
) -> None:
    if abs(number) > MOST:
        raise UsageError(f"{number} is too large for a priority.", hint=f"It goes from -{MOST} to {MOST}.")
    found = open_to_change(session, queue, selection.words)
    done = obey(session, found, PRIORITY, selection, yes=yes, priority=number)
    tell(session, done, "priority", f"priority {number}")

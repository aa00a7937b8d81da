"""paddock rerun: run tasks again that are done."""

from __future__ import annotations

from paddock.cli.ordered import order_verb
from paddock.queue.order.orders import RERUN

_HELP = """Run tasks again that are done, as further attempts of the same runs.

\b
  paddock rerun TASK
  paddock rerun --regex 'eval'

The same as `mv` of the task's file from done/ to queued/.
"""

rerun = order_verb("rerun", _HELP, RERUN, "rerun", "queued again")

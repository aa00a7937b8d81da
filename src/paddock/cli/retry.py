"""paddock retry: run failed tasks again."""

from __future__ import annotations

from paddock.cli.ordered import order_verb
from paddock.queue.order.orders import RETRY

_HELP = """Run failed tasks again. What became of the earlier attempts stays in the task's file and in its run.

\b
  paddock retry TASK
  paddock retry --all

The same as `mv` of the task's file from failed/ to queued/.
"""

retry = order_verb("retry", _HELP, RETRY, "retried", "queued again")

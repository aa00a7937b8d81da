"""paddock resume: let paused tasks go on."""

from __future__ import annotations

from paddock.cli.ordered import order_verb
from paddock.queue.order.orders import RESUME

_HELP = """Let paused tasks go on: a stopped one where it was, one that was held in the queue as it was.

\b
  paddock resume TASK
  paddock resume --all

The same as `mv` of the task's file from paused/ to active/ when its name has a worker in it, else to queued/.
"""

resume = order_verb("resume", _HELP, RESUME, "resumed", "resumed")

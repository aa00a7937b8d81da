"""paddock pause: hold tasks; stop those that run."""

from __future__ import annotations

from paddock.cli.ordered import order_verb
from paddock.queue.order.orders import PAUSE

_HELP = """Hold tasks. One that runs is stopped where it is, with all its processes; it keeps its memory and its slot.

\b
  paddock pause TASK
  paddock pause --state queued

The same as `mv` of the task's file to paused/. `paddock resume` lets them go on.
"""

pause = order_verb("pause", _HELP, PAUSE, "paused", "paused")

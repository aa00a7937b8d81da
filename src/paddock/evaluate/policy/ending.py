"""When a watch is over by itself. Pure."""

from __future__ import annotations

from typing import NamedTuple

from paddock.evaluate.policy.rules import StopWhen

RUNNING, OVER, UNKNOWN = "running", "over", "unknown"  # of the training


class Situation(NamedTuple):
    training: str
    settling: int  # checkpoints that are complete, and have not rested for long enough
    idle: float  # seconds since a checkpoint came


def reason(rules: StopWhen, now: Situation) -> str:
    """Why nothing more is to be expected; "" while something is. What waits or runs is still to be awaited then."""
    if now.settling:
        return ""
    if rules.training_done and now.training == OVER:
        return "the training is over"
    if rules.idle and now.idle >= rules.idle:
        return f"nothing new came for {_span(rules.idle)}"
    return ""


def _span(seconds: float) -> str:
    for size, unit in ((3600, "h"), (60, "m")):
        if seconds >= size and seconds % size == 0:
            return f"{seconds / size:g} {unit}"
    return f"{seconds:g} s"

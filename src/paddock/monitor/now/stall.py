"""Whether a run that lives still gets on. Pure: the times of its last steps in, a verdict out.

A run has stalled when it has made no step for ten times its median step, and longer than the longest pause among its
last steps by half: a validation every hundred steps is no stall. A few seconds are never one.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import median
from typing import NamedTuple

TIMES = 10.0
PAUSES = 1.5
FLOOR_SECONDS = 5.0
LEAST = 3  # steps between which there are intervals to speak of


class Pace(NamedTuple):
    """How a run has stepped lately."""

    step_seconds: float | None = None  # the median
    longest: float = 0.0  # pause between two steps
    last: float | None = None  # when it made its last step, by its own clock

    @property
    def limit(self) -> float | None:
        """Seconds without a step from which on it has stalled; None when nobody can tell."""
        if self.step_seconds is None:
            return None
        return max(TIMES * self.step_seconds, PAUSES * self.longest, FLOOR_SECONDS)

    def has_stalled(self, silence: float) -> bool:
        return self.limit is not None and silence > self.limit


def pace(times: Sequence[float]) -> Pace:
    """Of step times in order. A clock that was set back makes no interval."""
    if not times:
        return Pace()
    intervals = [later - earlier for earlier, later in pairwise(times) if later >= earlier]
    if len(intervals) < LEAST - 1:
        return Pace(None, 0.0, times[-1])
    return Pace(median(intervals), max(intervals), times[-1])


def silence(last: float, seen: float, now: float | None) -> float:
    """Seconds without a step. Its own last sign of life says it without comparing clocks; `now` is given where the run
    has the same clock as we."""
    return max(0.0, seen - last, now - last if now is not None else 0.0)

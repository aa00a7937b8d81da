"""When a worker's time is over, and what may still be begun before that. Pure."""

from __future__ import annotations

from functools import cached_property

import msgspec

MARGIN = 60.0  # seconds before the end in which nothing is begun
RESERVE = 10.0  # seconds beside the grace for writing down what became of the tasks


class Walltime(msgspec.Struct, frozen=True, dict=True):  # a place for what is kept
    """Seconds from the worker's start; 0 is never. `until` is when it was asked to leave; at `end` the machine is taken
    from it (the end of a Slurm job), whatever it was asked."""

    until: float = 0.0
    end: float = 0.0
    grace: float = 30.0

    @cached_property
    def over(self) -> float:
        """From when on it leaves: at `until`, and in time to end its tasks with their grace before `end`."""
        hard = self.end - min(self.grace + RESERVE, self.end / 10)
        return min(t for t in (self.until, hard, 1e18) if t > 0)

    @cached_property
    def last(self) -> float:
        """From when on it must end its tasks, also when it may let them finish."""
        return self.end - min(self.grace + RESERVE, self.end / 10) if self.end > 0 else 1e18

    def may_begin(self, elapsed: float, timeout: float = 0.0) -> bool:
        """Not what would surely be given back: a task whose timeout is longer than what is left, or any at all shortly
        before the end."""
        left = self.over - elapsed
        return left > min(MARGIN, self.over / 10) and timeout <= left

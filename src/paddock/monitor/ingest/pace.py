"""How often clients should come: as often as they like while the processor has time, less often when it has none."""

from __future__ import annotations

import time

SHORTEST, LONGEST = 0.2, 3.0  # seconds between two parcels of one client
_BUSY, _IDLE = 0.6, 0.4  # of one processor
_EVERY = 1.0  # seconds


class Pace:
    def __init__(self) -> None:
        self.seconds = SHORTEST
        self._wall, self._cpu = time.monotonic(), time.process_time()

    def now(self) -> float:
        """What to tell a client that is answered at this moment."""
        wall = time.monotonic()
        passed = wall - self._wall
        if passed >= _EVERY:
            cpu = time.process_time()
            self.seconds = adjusted(self.seconds, (cpu - self._cpu) / passed)
            self._wall, self._cpu = wall, cpu
        return self.seconds


def adjusted(seconds: float, load: float) -> float:
    if load > _BUSY:
        seconds *= min(2.0, load / _BUSY + 0.1)
    elif load < _IDLE:
        seconds *= 0.8
    return min(LONGEST, max(SHORTEST, seconds))

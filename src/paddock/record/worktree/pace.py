"""How fast the code is read: at full speed while init() waits for it, gently beside a training, and at full speed
again when finish() waits.

Each file takes about a dozen calls of the system, and each of them takes the interpreter from the training for a
moment. With a pause after each file few calls of log() meet one.
"""

from __future__ import annotations

from time import monotonic, sleep

PAUSE_SECONDS = 0.01  # log() in a tight loop beside it, slowest hundredth: 138 us without, 118 with 2 ms, 50 with 10 ms


class Pace:
    def __init__(self, deadline: float) -> None:
        self.deadline = deadline  # by time.monotonic()
        self._gentle = False

    def ease(self, seconds: float) -> None:
        """Nobody waits any more, and it may take so long from now on."""
        self.deadline, self._gentle = monotonic() + seconds, True

    def hurry(self, seconds: float) -> None:
        self._gentle = False
        self.deadline = min(self.deadline, monotonic() + seconds)

    @property
    def over(self) -> bool:
        return monotonic() > self.deadline

    def pause(self) -> None:
        if self._gentle:
            sleep(PAUSE_SECONDS)

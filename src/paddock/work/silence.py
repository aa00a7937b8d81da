"""Whether others may have taken this worker for dead, and removed its file: after a disk that hung, or the sleep of its
machine. Then the file's absence is no order to leave."""

from __future__ import annotations

from paddock.work.processes.clock import boot_time

BURIAL_SECONDS = 60.0  # who saw nothing of it until just now may still be about to remove its file


class Silence:
    def __init__(self, reclaim: float) -> None:
        """Nobody removes it sooner than after so many seconds in which nothing was heard."""
        self._reclaim = reclaim
        self._lived = boot_time()  # before its files last said that it lives
        self._over = -1e9  # when they said so again after a long silence

    def heard(self, at: float) -> None:
        """All of its files have just said that it lives; what they say was begun to be written `at`."""
        if self._is_long():
            self._over = boot_time()
        self._lived = at

    def explains(self) -> bool:
        """Why the file is not there."""
        return self._is_long() or boot_time() - self._over < BURIAL_SECONDS

    def _is_long(self) -> bool:
        return boot_time() - self._lived > self._reclaim

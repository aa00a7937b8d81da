"""The one thread of a tracked process: brings the journals to disk, shows that the process lives, tries again what the
disk refused, and writes down what is gathered in memory for a tenth of a second."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence

from paddock.record.journal import Journal

BRISK_SECONDS = 0.1  # between two looks while somebody has something to be written


class Keeper:
    """`journals`: the first is the one that shows life. `gathered` writes what was gathered, and says whether there is
    more to come soon."""

    def __init__(
        self,
        journals: Callable[[], Sequence[Journal]],
        *,
        sync_seconds: float,
        beat: Callable[[], None],
        beat_seconds: float,
        removed: Callable[[Journal], None],
        gathered: Callable[[], bool],
    ) -> None:
        self._removed = removed
        self._journals = journals
        self.seconds = max(sync_seconds, 0.05)
        self.ticks: list[Callable[[], None]] = []  # called every so many seconds: to wake another thread costs more
        self._beat = beat
        self._beat_seconds = beat_seconds
        self._gathered = gathered
        self._brisk = self._stopping = False
        self._wake = threading.Event()
        self._thread = threading.Thread(target=self._keep, name="paddock-keeper", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stopping = True
        self._wake.set()
        if self._thread is not threading.current_thread():
            self._thread.join(timeout=10)

    def hurry(self) -> None:
        """There is something to be written within a tenth of a second."""
        if not self._brisk:
            self._brisk = True
            self._wake.set()

    def _keep(self) -> None:
        quiet_since = synced = time.monotonic()
        while True:
            pause = synced + self.seconds - time.monotonic()
            woken = self._wake.wait(max(0.0, min(pause, BRISK_SECONDS) if self._brisk else pause))
            if self._stopping:
                return
            if woken:  # what is to be written soon may first become more
                self._wake.clear()
                continue
            try:
                self._brisk = False  # before the look: who hurries us meanwhile is not forgotten
                if self._gathered():
                    self._brisk = True
                if time.monotonic() - synced < self.seconds:
                    continue
                synced = time.monotonic()
                for tick in self.ticks:
                    tick()
                if self._tend():
                    quiet_since = synced
                elif synced - quiet_since >= self._beat_seconds:
                    self._beat()
                    quiet_since = synced
            except Exception:  # the keeper outlives whatever it meets: it is what tells others that we live
                quiet_since = synced = time.monotonic()

    def _tend(self) -> bool:
        """Whether the process's own journal has shown life by itself."""
        first, *others = self._journals()
        showed = first.dirty
        for journal in (first, *others):
            if journal.waiting:
                journal.retry()
            if journal.is_unlinked():
                self._removed(journal)
            if journal.dirty:
                journal.sync()
        return showed

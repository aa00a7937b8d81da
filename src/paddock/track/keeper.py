"""The one thread of a tracked process: brings the journal to disk, shows that the process lives, tries again what the
disk refused."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from paddock.record.journal import Journal


class Keeper:
    def __init__(
        self,
        journal: Journal,
        *,
        sync_seconds: float,
        beat: Callable[[], None],
        beat_seconds: float,
        removed: Callable[[], None],
    ) -> None:
        self._removed = removed
        self._journal = journal
        self._sync_seconds = max(sync_seconds, 0.05)
        self._beat = beat
        self._beat_seconds = beat_seconds
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._keep, name="paddock-keeper", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        if self._thread is not threading.current_thread():
            self._thread.join(timeout=10)

    def _keep(self) -> None:
        quiet_since = time.monotonic()
        while not self._stop.wait(self._sync_seconds):
            try:
                if self._journal.waiting:
                    self._journal.retry()
                if self._journal.is_unlinked():
                    self._removed()
                if self._journal.dirty:
                    self._journal.sync()
                    quiet_since = time.monotonic()
                elif time.monotonic() - quiet_since >= self._beat_seconds:
                    self._beat()
                    quiet_since = time.monotonic()
            except Exception:  # the keeper outlives whatever it meets: it is what tells others that we live
                quiet_since = time.monotonic()

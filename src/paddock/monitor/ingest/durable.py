"""Bringing to the disk what was received: a power cut costs a second at most, and nobody waits for a disk."""

from __future__ import annotations

import os
import threading

from paddock.record.layout import Home
from paddock.record.objects import sync_filesystem

SECONDS = 1.0  # that acknowledged bytes may wait
_ONE_BY_ONE = 16  # files; more are brought there by one call


class Durable:
    def __init__(self, home: Home) -> None:
        self._home = home
        self._lock = threading.Lock()
        self._dirty: set[str] = set()  # files, and directories that got new names
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._keep, name="paddock-durable", daemon=True)
        self._thread.start()

    def note(self, *paths: str) -> None:
        with self._lock:
            self._dirty.update(paths)

    def flush(self) -> None:
        with self._lock:
            paths, self._dirty = self._dirty, set()
        if len(paths) > _ONE_BY_ONE and sync_filesystem(str(self._home.runs)):
            return
        for path in paths:
            try:
                descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
            except OSError:  # removed meanwhile
                continue
            try:
                os.fsync(descriptor)
            except OSError:
                pass
            finally:
                os.close(descriptor)

    def close(self) -> None:
        self._stop.set()
        self._thread.join(timeout=30)
        self.flush()

    def _keep(self) -> None:
        while not self._stop.wait(SECONDS):
            self.flush()

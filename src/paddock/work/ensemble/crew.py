"""The living workers of a queue, and what they have: together they say what could run at all."""

from __future__ import annotations

import contextlib
import os
import time

from paddock.queue.directory import DirectoryQueue
from paddock.queue.lease import Identity, Watch, read_identity

LIST_SECONDS, DEAD_SECONDS = 1.0, 5.0  # how old the list of all may be, and that of the dead among them


class Crew:
    def __init__(self, queue: DirectoryQueue, watch: Watch) -> None:
        self._directory, self._watch = queue.workers, watch
        self._known: dict[str, Identity] = {}
        self._dead: set[str] = set()
        self._listed = self._judged = -1e9

    def living(self) -> list[Identity]:
        now = time.monotonic()
        if now - self._listed > LIST_SECONDS:
            self._listed = now
            with contextlib.suppress(OSError):
                names = [name for name in os.listdir(self._directory) if not name.startswith(".")]
                found = {name: self._known.get(name) or read_identity(self._directory / name) for name in names}
                self._known = {name: identity for name, identity in found.items() if identity is not None}
        if now - self._judged > DEAD_SECONDS:
            self._judged = now
            self._dead = {name for name in self._known if self._watch.is_dead(name)}
        return [identity for name, identity in self._known.items() if name not in self._dead]

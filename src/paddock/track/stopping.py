"""Whether somebody has asked this training to stop."""

from __future__ import annotations

import time

from paddock.record.layout import RunDirectory
from paddock.record.stop import asked

LOOK_SECONDS = 2.0  # between two looks at the disk: should_stop() may be called in every step


class StopSign:
    def __init__(self, directory: RunDirectory, attempt: int) -> None:
        self._directory, self._attempt = directory, attempt
        self._next = 0.0
        self._why = ""

    def why(self) -> str:
        """Once asked for, it stays."""
        if not self._why and (now := time.monotonic()) >= self._next:
            self._next = now + LOOK_SECONDS
            stop = asked(self._directory)
            if stop is not None and stop.attempt >= self._attempt:
                self._why = stop.why or "asked to stop"
        return self._why

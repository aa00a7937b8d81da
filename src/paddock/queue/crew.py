"""The workers of a queue in a directory: who has a file there, and how long ago it was written to."""

from __future__ import annotations

import os
from pathlib import Path

from paddock.queue.lease import Identity, read_identity, server_time

SILENT_SECONDS = 60.0  # six beats


def crew(directory: Path, aside: Path) -> list[tuple[Identity, float, bool]]:
    """All that have a file in a directory; `aside` is one on the same disk that takes a file for a moment."""
    try:
        names = sorted(name for name in os.listdir(directory) if not name.startswith("."))
    except OSError:
        return []
    found = [identity for name in names if (identity := read_identity(directory / name)) is not None]
    if not found:
        return []
    now = server_time(aside)
    silences = [max(0.0, now - _beaten(directory / identity.worker, now)) for identity in found]
    return [(one, silence, silence > SILENT_SECONDS) for one, silence in zip(found, silences, strict=True)]


def _beaten(path: Path, now: float) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return now

"""Wait for a condition, never for a time."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

DEADLINE = 120.0  # seconds: so long that only a fault takes them


def until(condition: Callable[[], Any], seconds: float = DEADLINE, pause: float = 0.01) -> Any:
    """What the condition found, once it found something."""
    end = time.monotonic() + seconds
    while True:
        if found := condition():
            return found
        assert time.monotonic() < end, f"it did not happen within {seconds:g} s"
        time.sleep(pause)


def written(path: Path) -> str:
    """What is in a file once its last line is whole, "" until then: who makes it has not written to it yet."""
    try:
        text = path.read_text()
    except FileNotFoundError:
        return ""
    return text if text.endswith("\n") else ""

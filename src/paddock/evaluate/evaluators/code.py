"""The code of an evaluation: that of the evaluator, taken when it was imported, for that is what evaluates."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from paddock import settings
from paddock.record.layout import Home
from paddock.track.script import started
from paddock.track.snapshot import Capture

_taken: Capture | None = None  # in a process that waits for an evaluation


def declare(spec: str) -> None:
    """A run's code is that of the script that was started: here it is the evaluator's file."""
    file, colon, _ = spec.rpartition(":")
    if colon and file.endswith(".py"):
        started.declare(Path(file), [])


def take(home: Home) -> None:
    """Begin to read it, before there is a run. A thread does it, which would be in the evaluation's way."""
    global _taken
    _taken = Capture(home, settings.load(), with_code=True)


def for_init() -> dict[str, Any]:
    """What init() is told about it."""
    return {"disable_code": True} if _taken is not None else {}


def tell(run: Any) -> None:
    """The run gets what was taken, as soon as it is there."""
    if _taken is not None:
        _taken.attach(run, wrote_facts=False)

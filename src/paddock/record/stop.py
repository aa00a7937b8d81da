"""Asking a training to stop: a file in its run, which `paddock.should_stop()` finds.

It holds for the attempt that ran when it was asked for: whoever continues the run later means to go on.
"""

from __future__ import annotations

import os
import time
from typing import NamedTuple

from paddock import files, wire
from paddock.record.layout import RunDirectory

NAME = "stop.json"


class Stop(NamedTuple):
    attempt: int
    why: str


def ask(directory: RunDirectory, attempt: int, why: str) -> None:
    data = {"v": 1, "attempt": attempt, "why": wire.text(why), "t": round(time.time(), 6)}
    files.replace(directory.path / NAME, wire.dumps(data))


def asked(directory: RunDirectory) -> Stop | None:
    """By a listing: a name that was once missing stays missing for half a minute on NFS."""
    try:
        if NAME not in os.listdir(directory.path):
            return None
        found = wire.loads(files.read_from(directory.path / NAME, 0))
        return Stop(int(found["attempt"]), str(found["why"]))
    except (OSError, ValueError, KeyError, TypeError, wire.DecodeError):
        return None

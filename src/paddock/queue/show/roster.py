"""The workers of a queue as an onlooker sees them: their files, and whether they live.

Somebody who looks once cannot see a counter change. On this host the process itself is looked for. Of other hosts the
age of the last beat is told, by the clock of the file server alone: a file written now says what it is. That is good
enough to tell a person; workers that take over tasks judge by the counter (`lease.Watch`).
"""

from __future__ import annotations

import math
import os
import secrets
import time
from pathlib import Path
from typing import NamedTuple

from paddock.queue.directory import DirectoryQueue
from paddock.queue.lease import Identity, Watch, read_identity

SILENT_SECONDS = 60.0  # six beats
ALIVE, SILENT, DEAD = "alive", "silent", "dead"


class Seen(NamedTuple):
    """One worker."""

    identity: Identity
    state: str
    silence: float  # seconds since its last beat

    @property
    def name(self) -> str:
        return self.identity.worker

    @property
    def gpus(self) -> tuple[str, ...]:
        return tuple(part for part in self.identity.gpus.split(",") if part)


def workers(queue: DirectoryQueue) -> list[Seen]:
    """All that have a file, by name."""
    return seen(queue.workers, queue.path / ".submit")


def seen(directory: Path, aside: Path) -> list[Seen]:
    """All that have a file in a directory; `aside` is one on the same disk that takes a file for a moment."""
    try:
        names = sorted(name for name in os.listdir(directory) if not name.startswith("."))
    except OSError:
        return []
    found = [identity for name in names if (identity := read_identity(directory / name)) is not None]
    if not found:
        return []
    now = server_time(aside)
    return [_judged(directory, identity, now - _beaten(directory / identity.worker, now)) for identity in found]


def _judged(directory: Path, identity: Identity, silence: float) -> Seen:
    silence = max(0.0, silence)
    if _is_gone(directory, identity):
        return Seen(identity, DEAD, silence)
    return Seen(identity, SILENT if silence > SILENT_SECONDS else ALIVE, silence)


def is_gone(queue: DirectoryQueue, worker: str) -> bool:
    """Whether the worker surely lives no more: it ran on this host, and its process is not there. Of other hosts, and
    of a worker whose file was removed, nothing can be said in one look."""
    identity = read_identity(queue.workers / worker)
    return identity is not None and _is_gone(queue.workers, identity)


def _is_gone(directory: Path, identity: Identity) -> bool:
    return Watch(directory, math.inf).is_gone(identity)


def _beaten(path: Path, now: float) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return now


def server_time(directory: Path) -> float:
    """What time it is for the files there; our own clock where we may not write."""
    probe = directory / f".time.{secrets.token_hex(4)}"
    try:
        os.close(os.open(probe, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600))
    except OSError:
        return time.time()
    try:
        return os.stat(probe).st_mtime
    finally:
        probe.unlink(missing_ok=True)

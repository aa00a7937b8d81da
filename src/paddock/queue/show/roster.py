"""The workers of a queue as an onlooker sees them, and whether they live.

Somebody who looks once cannot see a counter change. On this host the process itself is looked for. Of other hosts the
age of the last beat is told, by the clock of the file server (or of Redis) alone. That is good enough to tell a person;
workers that take over tasks judge by the counter (`lease.Watch`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from paddock.queue.crew import crew
from paddock.queue.lease import Identity, Watch
from paddock.queue.protocol import Queue

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


def workers(queue: Queue) -> list[Seen]:
    """All that are known, by name."""
    return _judged(queue.crew())


def seen(directory: Path, aside: Path) -> list[Seen]:
    """All that have a file in a directory; `aside` is one on the same disk that takes a file for a moment."""
    return _judged(crew(directory, aside))


def _judged(found: Iterable[tuple[Identity, float, bool]]) -> list[Seen]:
    return [
        Seen(identity, DEAD if _is_gone(identity) else SILENT if silent else ALIVE, silence)
        for identity, silence, silent in found
    ]


def is_gone(queue: Queue, worker: str) -> bool:
    """Whether the worker surely lives no more: it ran on this host, and its process is not there. Of other hosts, and
    of a worker whose file was removed, nothing can be said in one look."""
    return any(identity.worker == worker and _is_gone(identity) for identity, _, _ in queue.crew())


def _is_gone(identity: Identity) -> bool:
    return Watch(Path(), math.inf).is_gone(identity)

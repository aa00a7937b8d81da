"""The tasks of a queue in Redis that are in a worker's tray."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from paddock.queue.directory import DirectoryQueue
from paddock.queue.redis.queue import RedisQueue
from paddock.queue.task import Task
from paddock.work.options import Options


@dataclass
class Held:
    """One of them."""

    claim: str
    task: Task
    attempts: int
    at: float
    original: bytes  # its file, as it is in Redis
    written: int  # bytes of what went into the tray; what comes behind is news
    begun: bool = False
    over: bool = False  # it has ended; what is still to be done is to write that down, and to say it in Redis
    missing: int = 0  # looks in a row that did not find its file
    stale: bool = False  # another's by now


@dataclass
class Stock:
    """All of them, and between which two places they are carried."""

    queue: RedisQueue
    tray: DirectoryQueue
    options: Options
    say: Callable[[str], None]
    held: dict[str, Held] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)  # why a task waits here
    taken: int = 0
    said: set[bytes] = field(default_factory=set)  # tasks of which we told Redis the end, until we hear it ourselves

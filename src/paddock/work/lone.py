"""One task, run here without a queue: for engines that hand over the task itself (a job of RQ, a pod).

The task gets a queue to itself, in a directory of its own, and a worker that is there for it alone. So an attempt is
what it is everywhere: the same guard, the same record, the same ends. What is left of the queue is the task's file,
with a note of each attempt.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from paddock import files
from paddock.queue.directory import DirectoryQueue
from paddock.queue.lifecycle import ACTIVE, CHECKING, DONE, FAILED, PAUSED, QUEUED, Place
from paddock.queue.task import TaskFile, read
from paddock.record.layout import Home
from paddock.work.options import Options
from paddock.work.worker import Worker

TRAYS = "trays"


class Over(NamedTuple):
    state: str  # done, failed; queued when it was given back; "gone" when it was cancelled
    data: bytes  # the task's file as it is now

    def file(self, task: str) -> TaskFile:
        return read(self.data, task)


def tray(home: Home, task: str) -> DirectoryQueue:
    """The queue that the task has to itself. Orders are given there as in any other: by moving its file."""
    return DirectoryQueue(home.path / TRAYS / task)


def run(
    data: bytes,
    task: str,
    home: Home,
    options: Options,
    cache: Path,
    tell: Callable[[Sequence[str]], None] = lambda texts: None,
    begun: Callable[[Worker], None] = lambda worker: None,
) -> Over:
    """Run the task in `data` (a task's file, whatever has been noted in it already) until it is over, or until this
    process is told to stop. Only from the main thread: signals are a worker's."""
    queue = tray(home, task)
    _empty(queue)
    queue.prepare()
    queue.place_copy(data, Place(QUEUED, task))
    worker = Worker(home, [queue], msgspec.structs.replace(options, only=task, persist=False), cache, tell)
    begun(worker)
    worker.run()
    over = _find(queue, task, data)
    _empty(queue)
    return over


def _find(queue: DirectoryQueue, task: str, data: bytes) -> Over:
    for place in queue.list((QUEUED, PAUSED, CHECKING, ACTIVE, FAILED, DONE)).places:
        if place.id == task:
            state = place.state if place.state in (DONE, FAILED) else QUEUED
            return Over(state, files.read_from(queue.file(place), 0))
    return Over("gone", data)


def _empty(queue: DirectoryQueue) -> None:
    """By hand: shutil brings two compressors along, and every pod would wait for them."""
    for directory, _, names in os.walk(queue.path, topdown=False):
        for name in names:
            with contextlib.suppress(OSError):
                os.unlink(os.path.join(directory, name))
        with contextlib.suppress(OSError):
            os.rmdir(directory)

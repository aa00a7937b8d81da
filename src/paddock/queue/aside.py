"""Tasks on the disk that are not in the queue yet: each is whole before it gets its name."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path

from paddock import files
from paddock.queue import commit
from paddock.queue.lifecycle import QUEUED, Place
from paddock.queue.task import Task, render

_OPEN = 500  # files at once: a process may hold about 1,000 open

Written = list[tuple[str, Place]]  # where each file is, and where it is to go


def write(directory: str, tasks: Sequence[Task], written: Written) -> None:
    """All of them, into this directory of the queue's disk; `written` says at any moment what is there."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for task in tasks:
            temporary = f"{directory}/{task.id}.{os.urandom(3).hex()}"
            file = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o644)
            written.append((temporary, Place(QUEUED, task.id, task.priority)))
            try:
                files.write_all(file, render(task))
            finally:
                os.close(file)
        if not commit.sync_together([descriptor], len(tasks)):
            for first in range(0, len(written), _OPEN):
                _sync([temporary for temporary, _ in written[first : first + _OPEN]])
    finally:
        os.close(descriptor)


def _sync(paths: Sequence[str]) -> None:
    descriptors: list[int] = []
    try:
        descriptors += (os.open(path, os.O_RDONLY | os.O_CLOEXEC) for path in paths)
        commit.sync_each(descriptors)
    finally:
        for descriptor in descriptors:
            os.close(descriptor)


def take_back(*names: str | Path) -> bool:
    """Remove a task that was not acknowledged, under the name it has by now; False when a worker was faster."""
    found = 0
    for name in names:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)
            found += 1
    return found > 0

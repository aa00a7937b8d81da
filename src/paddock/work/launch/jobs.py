"""Which jobs were started for each task of an engine's queue: a line for each, in `.jobs/<task>`.

    slurm 4711_3 2026-11-18 02:15:00 attempts 0

It is only a memory of ours. What runs is what the engine says, and a job whose line was never written, because we were
killed, is found by its name.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable

from paddock import files
from paddock.queue.directory import DirectoryQueue

DIRECTORY = ".jobs"


def note(queue: DirectoryQueue, task: str, scheme: str, job: str, attempts: int) -> None:
    """`attempts` are those that the task had before."""
    directory = queue.path / DIRECTORY
    directory.mkdir(exist_ok=True)
    line = f"{scheme} {job} {time.strftime('%Y-%m-%d %H:%M:%S')} attempts {attempts}\n"
    with open(directory / task, "a", encoding="utf-8") as file:
        file.write(line)


def started(queue: DirectoryQueue, task: str) -> list[tuple[str, int]]:
    """(job, attempts before it), in the order in which they were started."""
    try:
        text = files.read_from(queue.path / DIRECTORY / task, 0).decode("utf-8", "replace")
    except OSError:
        return []
    lines = [line.split() for line in text.splitlines()]
    return [(line[1], int(line[5])) for line in lines if len(line) == 6 and line[5].isdigit()]


def in_vain(queue: DirectoryQueue, task: str, attempts: int) -> int:
    """How many of them ended without an attempt, since the last one."""
    return sum(before >= attempts for _, before in started(queue, task))


def forget(queue: DirectoryQueue, tasks: Iterable[str]) -> None:
    """A person wants them tried again."""
    for task in tasks:
        try:
            os.unlink(queue.path / DIRECTORY / task)
        except OSError:
            pass

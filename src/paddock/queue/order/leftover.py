"""What a queue can do without: old tasks that are over, half-written submissions, the files of dead workers."""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from paddock import files
from paddock.queue.directory import DirectoryQueue
from paddock.queue.lifecycle import CANCELLED, DONE, FAILED, place
from paddock.queue.protocol import Queue
from paddock.queue.show.roster import DEAD, workers
from paddock.queue.show.view import Entry

OVER = (DONE, FAILED)
ASIDE_SECONDS = 3600.0  # a submission takes less


class Leftovers(NamedTuple):
    tasks: list[Entry]  # that are over, and old
    needed: list[Entry]  # the same, but others wait for them
    files: list[Path]  # half-written submissions, and cancelled tasks of dead workers
    workers: list[str]  # dead ones that have nothing any more
    queue: Queue

    @property
    def empty(self) -> bool:
        return not (self.tasks or self.files or self.workers)

    @property
    def remains(self) -> list[str]:
        """What is no task, for people."""
        queue = self.queue
        where = f"{queue.workers}/" if isinstance(queue, DirectoryQueue) else f"{queue.address} worker "
        return [*map(str, self.files), *(f"{where}{name}" for name in self.workers)]


def leftovers(
    queue: Queue,
    entries: Sequence[Entry],
    chosen: Iterable[Entry],
    older_than: float,
    others: Sequence[Entry] = (),
) -> Leftovers:
    """Of the `chosen` tasks those that ended more than so many seconds ago; `entries` are all of this queue, `others`
    those of other queues."""
    now = queue.now()
    old = [e for e in chosen if e.state in OVER and not e.worker and _task_age(queue, e, now) >= older_than]
    wanted = wanted_by_others(entries, others)
    dead = [seen.name for seen in workers(queue) if seen.state == DEAD]
    owners = {entry.worker for entry in entries}
    return Leftovers(
        [e for e in old if e.id not in wanted],
        [e for e in old if e.id in wanted],
        [*_half_written(queue, now), *_cancelled(queue, dead)] if isinstance(queue, DirectoryQueue) else [],
        [name for name in dead if name not in owners],
        queue,
    )


def _task_age(queue: Queue, entry: Entry, now: float) -> float:
    if isinstance(queue, DirectoryQueue):
        return _age(queue.file(entry.place), now)  # when it was written to; that it was moved says nothing
    ended = queue.since(entry.place)
    return (
        max(0.0, now - ended) if ended is not None else math.inf
    )  # it came from elsewhere, and nobody has said when it ended


def wanted_by_others(entries: Sequence[Entry], others: Sequence[Entry] = ()) -> set[str]:
    """Tasks that others, which are not over, name in `after` or in their check: for them a task that is gone has
    never succeeded."""
    found: set[str] = set()
    over = {entry.id for entry in entries if entry.state in OVER}
    for entry in (*entries, *others):
        if entry.state not in OVER and entry.file is not None:
            task = entry.file.task
            found.update(dependency.task for dependency in task.after)
            if task.check:
                found.update(word for word in task.check.split() if word in over)
    return found


def remove(found: Leftovers) -> int:
    """How many went."""
    count = sum(found.queue.remove(entry.place) for entry in found.tasks)  # others may be faster, or have retried it
    found.queue.sync({entry.state for entry in found.tasks})
    for path in found.files:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
            count += 1
    for directory in {path.parent for path in found.files}:
        files.sync_directory(directory)
    for worker in found.workers:
        found.queue.forget(worker)
        count += 1
    return count


def _half_written(queue: DirectoryQueue, now: float) -> list[Path]:
    return [
        path
        for entry in files.entries(queue.path / ".submit")
        if _age(path := queue.path / ".submit" / entry.name, now) > ASIDE_SECONDS
    ]


def _cancelled(queue: DirectoryQueue, dead: Sequence[str]) -> list[Path]:
    found = []
    for entry in files.entries(queue.directory(CANCELLED)):
        at = place(CANCELLED, entry.name)
        if at is None or at.token is None or at.token.worker in dead:
            found.append(queue.directory(CANCELLED) / entry.name)
    return found


def _age(path: Path, now: float) -> float:
    try:
        return now - os.lstat(path).st_mtime
    except OSError:
        return -1.0

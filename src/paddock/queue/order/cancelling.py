"""The rest of a cancellation: the worker ends the processes, and takes the file away when none is left.

`cancel` moves a running task's file to a directory that nobody takes tasks from. Its worker finds it there (or, after
`rm`, nowhere), kills, and removes it. So the file's absence says that it is really over.
"""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import time
from collections.abc import Callable, Sequence

from paddock import files
from paddock.errors import NotFound
from paddock.queue import lifecycle
from paddock.queue.directory import DirectoryQueue
from paddock.queue.lifecycle import CANCELLED, Place
from paddock.queue.protocol import Queue
from paddock.record.journal import Journal, writer_name
from paddock.record.layout import Home
from paddock.version import __version__

CANCELLED_WHY = "cancelled"
_FIRST_SECONDS, _MOST_SECONDS = 0.02, 0.5  # between two looks


def cancel(queue: Queue, task_id: str, timeout: float | None) -> bool:
    """Take a task out of the queue; False when its worker has not ended it in time."""
    from paddock.queue.order import orders  # here: workers, which only confirm, do not need it

    at = orders.find(queue, task_id)
    if at is None:
        raise NotFound(f"There is no task {task_id} in {queue.address}.")
    queue.prepare()
    step = orders.carry_out(queue, orders.CANCEL, at)
    orders.make_durable(queue, [step])
    return step.after is None or not wait_until_over(queue, [step.after], timeout, functools.partial(_bury, queue))


def _bury(queue: Queue, place: Place) -> None:
    """Processes are ended by `work`, which stands above this package: so a process of its own does it."""
    import subprocess

    subprocess.run([sys.executable, "-m", "paddock.work.processes.burial", queue.address, place.name], check=False)


def confirm(queue: DirectoryQueue, place: Place) -> None:
    """By the worker: no process of this claim is left."""
    with contextlib.suppress(OSError):  # then somebody waits in vain, and `clean` removes it
        for name in _names(queue):
            found = lifecycle.place(CANCELLED, name)
            if found is not None and (found.id, found.token) == (place.id, place.token):
                (queue.directory(CANCELLED) / name).unlink(missing_ok=True)


def unconfirmed(queue: Queue, places: Sequence[Place]) -> list[Place]:
    """Those whose worker has not yet said that they are over."""
    there = {place.name for place in queue.list([CANCELLED]).places}
    return [place for place in places if place.name in there]


def wait_until_over(
    queue: Queue,
    places: Sequence[Place],
    timeout: float | None,
    bury: Callable[[Place], None] = lambda place: None,
) -> list[Place]:
    """Wait for the workers; what is left when the time is over. A worker that died on this host cannot answer: `bury`
    ends what may be left of its task, and the file is taken away here."""
    from paddock.queue.show.roster import is_gone

    end = None if timeout is None else time.monotonic() + timeout
    pause = _FIRST_SECONDS
    while left := unconfirmed(queue, places):
        for place in left:
            if place.token and is_gone(queue, place.token.worker):
                bury(place)
                queue.remove(place)
        left = unconfirmed(queue, left)
        if not left or (end is not None and time.monotonic() >= end):
            return left
        time.sleep(pause)
        pause = min(pause * 1.5, _MOST_SECONDS)
    return []


def record(home: Home, place: Place) -> None:
    """Say in the run that this attempt was cancelled, when its worker is no more there to say it."""
    run = home.run(place.id)
    if place.token is None or not run.path.is_dir():
        return
    name = writer_name()
    header = {
        "run": run.id,
        "writer": name,
        "role": "supervisor",
        "host": os.uname().nodename,
        "pid": os.getpid(),
        "attempt": place.token.epoch,
        "rank": None,
        "world": None,
        "paddock": __version__,
    }
    run.journals.mkdir(exist_ok=True)
    journal = Journal(run.journals / f"{name}.jsonl", header)
    journal.append_now({"k": "exit", "attempt": place.token.epoch, "code": None, "signal": None, "why": CANCELLED_WHY})
    journal.append_now({"k": "end", "code": 0, "reason": "finished"})
    journal.close()


def _names(queue: DirectoryQueue) -> list[str]:
    return [entry.name for entry in files.entries(queue.directory(CANCELLED))]

"""Tasks that fail without having run, by the hand of whoever looks at an engine's queue."""

from __future__ import annotations

import contextlib

from paddock.errors import Damaged
from paddock.queue.directory import DirectoryQueue
from paddock.queue.lease import worker_name
from paddock.queue.lifecycle import FAILED, Place, Token, ended
from paddock.queue.task import Attempt, render_attempt


def fail(queue: DirectoryQueue, place: Place, why: str) -> bool:
    """False when a worker was faster. Who is killed in the middle leaves a task of a worker that does not live, which
    the next one takes over."""
    with contextlib.suppress(Damaged, OSError):
        file = queue.read(place)
        number = len(file.attempts) + 1
        mine = queue.claim(place, Token(worker_name(), number))
        if mine is None or mine.token is None:
            return False
        note = Attempt(number=number, worker=mine.token.worker, outcome="failed", exit=f"not run: {why}")
        queue.append(mine, render_attempt(note, file.fence))
        return queue.move(mine, ended(mine, FAILED))
    return False

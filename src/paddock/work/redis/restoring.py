"""A Redis that has lost its memory is told anew of what runs: its worker has the whole task."""

from __future__ import annotations

import secrets
import time

from paddock.queue.redis import jobs
from paddock.work.redis.held import Held, Stock


def restore(stock: Stock, task: str, held: Held) -> bool:
    """Whether it was forgotten, and is known again. A worker that Redis still knows has lost the task, not Redis."""
    queue, worker = stock.queue, held.claim.rpartition(".")[0]
    fields = jobs.fields(held.task, queue.name) | {jobs.FIELD: held.original}
    pairs = [item for pair in fields.items() for item in pair]
    about = jobs.about(held.task, held.attempts)
    words = (task, about, worker, held.claim, secrets.token_hex(16), jobs.moment(), time.time(), *pairs)
    if held.stale or not queue.change("again", *words):
        return False
    if held.begun and held.task.check:
        queue.change("begun", task, held.claim)
    stock.say(f"Redis has lost its memory, and is told again of {task}")
    return True

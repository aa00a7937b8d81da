"""From Redis to the tray: tasks are claimed there as long as there is room for them here."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Callable
from typing import Any

from paddock.errors import Damaged
from paddock.queue.directory import ASIDE
from paddock.queue.lifecycle import ACTIVE, CHECKING, FAILED, QUEUED, Place
from paddock.queue.redis import jobs
from paddock.queue.task import read, without
from paddock.work.redis.held import Held, Stock

CHECKS = 16  # tasks at most that are here only because their check is tried


class Taking:
    def __init__(self, stock: Stock, worker: str) -> None:
        self._stock, self._worker = stock, worker

    def _room(self) -> tuple[Any, int]:
        """What is free, and how many more may come to have their check tried."""
        free, checks = self._stock.options.slots, CHECKS
        for one in self._stock.held.values():
            if one.task.check and not one.begun:
                checks -= 1
            else:
                free, _ = free.take(one.task)
        return free, checks

    def fetch(self, now: float, may_begin: Callable[[float], bool]) -> None:
        stock = self._stock
        while may_begin(time.monotonic()):
            if stock.options.one_task and stock.taken:
                return
            free, checks = self._room()
            if free.tasks < 1 and checks < 1:
                return
            most, execution = stock.options.slots, secrets.token_hex(16)
            found = stock.queue.change(
                *("take", self._worker, execution, jobs.moment(), time.time(), max(free.tasks, 0), len(free.gpus)),
                *(_amount(free.cpus), _amount(free.mem), max(checks, 0)),
                *(len(most.gpus), _amount(most.cpus), _amount(most.mem)),
            )
            if not found:
                return
            self._receive(found, now)

    def _receive(self, found: list[bytes], now: float) -> None:
        stock = self._stock
        task, claim = found[0].decode(), found[1].decode()
        attempts = int(found[2].split()[5])
        try:
            data = jobs.text((found[3], found[4]), task)
            file = read(data, task)
        except Damaged as error:
            stock.say(f"failed (not run: {error.message}): {task}")
            stock.queue.finish(task, claim, FAILED, b"", attempts, why=str(error))
            return
        # What it waited for has happened, or it were not here; the tray knows nothing of those tasks.
        alone = without(data, {dependency.task for dependency in file.task.after}) if file.task.after else data
        stock.held[task] = Held(claim, file.task, len(file.attempts), now, data, len(alone))
        stock.taken += 1
        aside = stock.tray.path / ASIDE / f"{task}.{secrets.token_hex(3)}"
        aside.write_bytes(alone)  # no wait for the disk: after a power cut Redis still has it
        os.rename(aside, stock.tray.file(Place(QUEUED, task, file.task.priority)))

    @property
    def is_over(self) -> bool:
        """Nothing is left to do for a worker that was not told to stay."""
        stock = self._stock
        if stock.held:
            return False
        if stock.options.one_task and stock.taken:
            return True
        if stock.options.persist:
            return False
        return not any(place.state in (QUEUED, CHECKING, ACTIVE) for place in stock.queue.content().places)


def _amount(number: int | None) -> int:
    return number if number is not None else 1 << 60

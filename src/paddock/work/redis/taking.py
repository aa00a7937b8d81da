"""From Redis to the tray: tasks are claimed there as long as there is room for them here."""

from __future__ import annotations

import os
import secrets
import socket
import time
from collections.abc import Callable, Sequence
from typing import Any

from paddock.errors import Damaged
from paddock.queue.directory import ASIDE
from paddock.queue.lifecycle import ACTIVE, CHECKING, FAILED, QUEUED, Place
from paddock.queue.redis import jobs
from paddock.queue.task import Task, read, without
from paddock.work.redis.held import Held, Stock
from paddock.work.slots import Demand

PASS_SECONDS = 60.0  # for so long what has no place here is left to others; a disk may come back
PASSED = 64  # tasks at most that are remembered for that
CHECKS = 16  # tasks at most that are here only because their check is tried


class Taking:
    def __init__(self, stock: Stock, worker: str, is_alive: Callable[[str], bool] = lambda worker: False) -> None:
        """`is_alive` says of another worker whether it has shown that it lives."""
        self._stock, self._worker, self._is_alive = stock, worker, is_alive
        self._passed: dict[str, float] = {}  # what was left to others, and when

    def _room(self) -> tuple[Any, int]:
        """What is free, and how many more may come to have their check tried."""
        free, checks = self._stock.options.slots, CHECKS
        for one in self._stock.held.values():
            if one.task.check and not one.begun:
                checks -= 1
            elif not one.over:
                free, _ = free.take(one.task)
        return free, checks

    def fetch(self, now: float, may_begin: Callable[[float], bool], news: bool) -> None:
        """`news`: something may have come to have its check tried, for which there is always room."""
        stock = self._stock
        while may_begin(time.monotonic()):
            if stock.options.one_task and stock.taken:
                return
            free, checks = self._room()
            if free.tasks < 1 and (checks < 1 or not news):
                return
            self._passed = {task: at for task, at in self._passed.items() if now - at < PASS_SECONDS}
            most, execution = stock.options.slots, secrets.token_hex(16)
            found = stock.queue.change(
                *("take", self._worker, execution, jobs.moment(), time.time(), max(free.tasks, 0), len(free.gpus)),
                *(_amount(free.cpus), _amount(free.mem), max(checks, 0)),
                *(len(most.gpus), _amount(most.cpus), _amount(most.mem), *list(self._passed)[-PASSED:]),
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
        absent = _absent(file.task)
        if absent:
            stock.say(f"left to others: {task}: there is no {absent} on this machine")
            stock.queue.finish(
                task, claim, "pass", b"", attempts, why=f"there is no {absent} on {socket.gethostname()}"
            )
            self._passed.pop(task, None)
            self._passed[task] = now
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
        content = stock.queue.content()
        return not any(self._may_come(place, content.tasks[place.id]) for place in content.places)

    def _may_come(self, place: Place, about: Sequence[int]) -> bool:
        """It waits, and not for more than this worker has. What others run is theirs, unless they may be dead."""
        if place.state == ACTIVE:
            return place.token is None or not self._is_alive(place.token.worker)
        _, gpus, cpus, mem, *_ = about
        return place.state in (QUEUED, CHECKING) and self._stock.options.slots.fits(Demand(gpus, cpus, mem))


def _absent(task: Task) -> str:
    """A directory that it needs as it is, and that is not on this machine: another's may have it."""
    here = task.facts.get("here")
    needed = [*(map(str, here) if isinstance(here, list) else ()), *([task.cwd] if task.cwd and not task.code else ())]
    return next((path for path in needed if not os.path.isdir(path)), "")


def _amount(number: int | None) -> int:
    return number if number is not None else 1 << 60

"""From the tray to Redis: what has become of each task, said once."""

from __future__ import annotations

import os
from functools import partial
from typing import Any

from paddock import files
from paddock.queue.directory import ASIDE
from paddock.queue.lifecycle import ACTIVE, CHECKING, DONE, FAILED, LOOK, QUEUED, Place
from paddock.queue.task import TaskFile, read
from paddock.work.redis.held import Held, Stock
from paddock.work.redis.restoring import restore

HOLD_SECONDS = 10.0  # for so long a task may be here without having begun; then others may try
CHECK_REST_SECONDS, CODE_REST_SECONDS = 3.0, 30.0


class Delivering:
    def __init__(self, stock: Stock) -> None:
        self._stock = stock

    def deliver(self, now: float, last: bool = False) -> bool:
        """Say what has become of each; True when something was over. The `last` time all goes back."""
        stock = self._stock
        if not stock.held:
            return False
        places = {place.id: place for place in stock.tray.list(LOOK).places}
        before = len(stock.held)
        for task, held in list(stock.held.items()):
            at = places.get(task)
            held.missing = 0 if at is not None else held.missing + 1
            if at is None:
                if held.missing > 1:
                    self._gone(task, held)
            elif at.state in (DONE, FAILED) and at.token is None:
                self._hand_over(task, held, at)
            elif at.state in (ACTIVE, CHECKING) and not held.begun:
                if at.state == ACTIVE:
                    held.begun = True
                    if held.task.check:
                        stock.queue.change("begun", task, held.claim)
            elif at.token is None and (last or self._overstays(task, held, at, now)):
                self._give_back(task, held, at, last)
        return len(stock.held) < before

    def _overstays(self, task: str, held: Held, at: Place, now: float) -> bool:
        if held.begun or at.state != QUEUED or now - held.at < HOLD_SECONDS:
            return False
        return bool(held.task.check) or task in self._stock.reasons

    def _gone(self, task: str, held: Held) -> None:
        if not held.stale:
            self._stock.queue.finish(task, held.claim, "gone", b"", held.attempts)
        del self._stock.held[task]

    def _hand_over(self, task: str, held: Held, at: Place) -> None:
        stock = self._stock
        data = held.original + files.read_from(stock.tray.file(at), held.written)
        file = read(data, task)
        count = len(file.attempts)
        stock.said.add(task.encode())
        if not held.stale and not self._finish(task, held, at.state, data, count, why=_ending(file)):
            stock.said.discard(task.encode())
            stock.say(f"{task} is {at.state} here, but another's by now: its result stays with its run")
        stock.tray.remove(at)
        del stock.held[task]

    def _finish(self, task: str, held: Held, state: str, data: bytes, attempts: int, **more: Any) -> bool:
        finish = partial(self._stock.queue.finish, task, held.claim, state, data, attempts, **more)
        return finish() or (restore(self._stock, task, held) and finish())

    def _give_back(self, task: str, held: Held, at: Place, last: bool) -> None:
        stock = self._stock
        path = stock.tray.path / ASIDE / at.name
        try:  # first out of the worker's sight
            os.rename(stock.tray.file(at), path)
        except FileNotFoundError:
            return
        rest = CODE_REST_SECONDS if task in stock.reasons and not held.task.check else CHECK_REST_SECONDS
        data = held.original + files.read_from(path, held.written)
        attempts = len(read(data, task).attempts)
        why = stock.reasons.get(task, "")
        try:
            if not held.stale:
                self._finish(task, held, "front" if last else "rest", data, attempts, rest=rest, why=why)
        except BaseException:
            os.rename(path, stock.tray.file(at))  # it is tried again
            raise
        stock.reasons.pop(task, None)
        path.unlink(missing_ok=True)
        del stock.held[task]


def _ending(file: TaskFile) -> str:
    """How the last attempt ended, for RQ's own result."""
    if not file.attempts:
        return ""
    last = file.attempts[-1]
    return f"{last.outcome}: {last.exit}\n{last.tail}".strip()

"""Slots that are kept for tasks whose code is still being unpacked. That takes a moment; a task behind them that began
in this moment, because its own code is there, might have the slots for a day. Pure."""

from __future__ import annotations

from paddock.queue.task import Task
from paddock.work.slots import Slots

PATIENCE_SECONDS = 10.0  # a large snapshot from far away takes longer: then the others are not kept from their work


class Awaited:
    def __init__(self) -> None:
        self._kept: dict[str, tuple[Task, float]] = {}  # by the task's id, with the moment until which it is so
        self._missed: set[str] = set()  # snapshots that could not be had

    def keep(self, task: Task, now: float) -> None:
        """Its code has been asked for; nobody idles for one that was asked for before, and did not come."""
        if task.code not in self._missed:
            self._kept.setdefault(task.id, (task, now + PATIENCE_SECONDS))

    def came(self, task: Task) -> None:
        self._kept.pop(task.id, None)
        self._missed.discard(task.code)

    def missed(self, task: Task) -> None:
        self._kept.pop(task.id, None)
        self._missed.add(task.code)

    def room(self, free: Slots, now: float) -> Slots:
        """What others may have."""
        for task, until in self._kept.values():
            if now < until and free.fits(task):
                free, _ = free.take(task)
        return free

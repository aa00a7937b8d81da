"""Bringing a task into a control group of its own, once it has lived for a moment.

To move a process costs the whole machine 10 to 20 ms in which no process can start, far more than a short task needs
for all it does. So a task begins outside, where its processes are known by their descent, session and token, and what
has not ended soon is moved, with everything it has started by then.
"""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterable

from paddock.work.processes import cgroup
from paddock.work.processes.guarded import Guarded, Lineage, Phase

AFTER_SECONDS = 0.05
_ROUNDS = 20  # a task that starts processes faster than they are moved stays half outside

Chore = Callable[[], object]


class Grouping:
    def __init__(
        self, base: str, lineage: Lineage, chores: queue.SimpleQueue[Chore], wake: Callable[[], object]
    ) -> None:
        """`base`: the directory to make groups in, "" for none; `chores`: what a second thread does; `wake`: how it
        tells the first that there is news."""
        self._base, self._lineage, self._chores, self._wake = base, lineage, chores, wake
        self._rounds: dict[str, int] = {}
        self._moving: set[str] = set()

    def due(self, task: Guarded) -> float | None:
        """When it is to be looked at for this, if ever."""
        if not self._base or task.gathered or task.is_over or task.stopped_at or task.phase is not Phase.RUNNING:
            return None
        if task.waits:  # it has no name yet by which others could find its group
            return None
        return None if task.key in self._moving else task.began + AFTER_SECONDS

    def step(self, task: Guarded, now: float) -> None:
        due = self.due(task)
        if due is None or now < due:
            return
        if task.group is None:
            task.group = cgroup.make(self._base, task.key)
            if task.group is None:
                task.gathered = True  # as well as can be
                return
        outside = self._lineage.outside(task, task.group)
        rounds = self._rounds[task.key] = self._rounds.get(task.key, 0) + 1
        if not outside or rounds > _ROUNDS:
            task.gathered = True
            self.forget(task)
            return
        self._moving.add(task.key)
        group = task.group
        self._chores.put(lambda: self._move(task.key, group, outside))

    def forget(self, task: Guarded) -> None:
        self._rounds.pop(task.key, None)
        self._moving.discard(task.key)

    def _move(self, key: str, group: cgroup.Cgroup, pids: Iterable[int]) -> None:
        """In the second thread. The first then looks whether somebody was born outside meanwhile."""
        for pid in pids:
            group.add(pid)
        self._moving.discard(key)
        self._wake()

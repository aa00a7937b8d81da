"""A task under guard, and which processes are its own.

Everything a task started is below the guard, whatever it did to escape, because orphans come to the nearest subreaper.
What came to the guard as an orphan belongs to the task whose control group, session or token it has. One without any
belongs to the only task that was there when it started (processes that wait to become tasks do not count); while
several were, it is left alone.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Mapping
from enum import Enum
from typing import Any

import msgspec

from paddock.work.processes import cgroup, process
from paddock.work.processes.process import Process


class Phase(Enum):
    RUNNING = 1
    TERMINATING = 2
    KILLING = 3


class Guarded(msgspec.Struct):
    """A task from its start until its last process is gone."""

    key: str
    leader: Process
    timeout: float
    grace: float
    began: float
    waits: bool = False  # it was started ahead, and is no task yet
    group: cgroup.Cgroup | None = None  # from when it has lived for a moment: grouping.py
    gathered: bool = False  # all of it is in its group
    phase: Phase = Phase.RUNNING
    how: str = "itself"
    deadline: float = 0.0  # of the grace; when killing, of our patience
    sweep_at: float = 0.0
    sweep_pause: float = 0.005
    stopped_at: float = 0.0
    ended: float = 0.0
    status: int = signal.SIGKILL
    usage: Any = None
    known: set[tuple[int, int]] = msgspec.field(default_factory=set)  # processes seen at the last look
    warned: set[tuple[int, int]] = msgspec.field(default_factory=set)  # processes that got SIGTERM

    @property
    def is_over(self) -> bool:
        """Its first process ended; others may be left."""
        return self.ended > 0

    def become(self, key: str, timeout: float, grace: float) -> None:
        """It was started ahead; now it is this task."""
        self.key, self.timeout, self.grace = key, timeout, grace
        self.began, self.waits = time.monotonic(), False

    def report(self, reason: str) -> dict[str, Any]:
        usage = self.usage
        # The kernel counts from the guard on, which started it: of a small task this says how large it was at most.
        peak = usage.ru_maxrss * 1024 if usage is not None else 0
        return {
            "is": "exited",
            "key": self.key,
            "status": int(self.status),
            "how": self.how,
            "seconds": (self.ended or time.monotonic()) - self.began,
            "max_rss": max(peak, self.group.peak_memory() if self.group is not None else 0),
            "user": usage.ru_utime if usage is not None else 0.0,
            "system": usage.ru_stime if usage is not None else 0.0,
            "reason": reason,
        }


class Lineage:
    """Whose a process is. It knows the guard's pid and the tasks that run; the rest it reads from the system."""

    def __init__(self, guard: int, tasks: Mapping[str, Guarded], leaders: Mapping[int, Guarded]) -> None:
        self._guard, self._tasks, self._leaders = guard, tasks, leaders
        self._owners: dict[tuple[int, int], str] = {}  # of orphans, once known
        self.has_orphans = False  # at the last look
        self.childless = False  # the guard was told so when it last waited, and has started nothing since
        self._hopeless: set[tuple[int, int]] = set()  # killed, and yet there

    def orphans(self) -> list[Process]:
        """What came to the guard because its parent ended. Nothing comes to who has no children."""
        if self.childless:
            self.has_orphans = False
            return []
        found = [process.look(pid) for pid in process.children(self._guard) if pid not in self._leaders]
        orphans = [o for o in found if o is not None and o.lives and o.identity not in self._hopeless]
        self.has_orphans = bool(orphans)
        return orphans

    def left(self, task: Guarded) -> list[Process]:
        """The orphans of a task: when its first process is over and there are none, nothing of it is left."""
        return [orphan for orphan in self.orphans() if self.owner(orphan) == task.key]

    def members(self, task: Guarded) -> list[Process]:
        """Every living process of a task. Those seen before count too: while we look, parents end, and for a moment
        a child is below nobody we know."""
        processes = process.table()
        roots = [] if task.is_over else [task.leader.pid]
        roots += [orphan.pid for orphan in self.left(task)]
        roots += [pid for pid, start in task.known if pid in processes and processes[pid].start == start]
        found = [member for member in process.tree(roots, processes) if member.identity not in self._hopeless]
        task.known = {member.identity for member in found}
        return found

    def outside(self, task: Guarded, group: cgroup.Cgroup) -> list[int]:
        """The processes of a running task that are not in its control group yet."""
        found = process.below([task.leader.pid, *(orphan.pid for orphan in self.left(task))])
        return [pid for pid in found if not group.holds(pid)]

    def owner(self, orphan: Process) -> str | None:
        """The task of an orphan; None when it may be of several, "" when it can be of none that runs."""
        known = self._owners.get(orphan.identity)
        if known in self._tasks:
            return known
        possible = [task for task in self._tasks.values() if task.leader.start <= orphan.start]
        if len(possible) < 2:
            return possible[0].key if possible else ""
        for task in possible:
            if orphan.session == task.leader.pid or (task.group is not None and task.group.holds(orphan.pid)):
                self._owners[orphan.identity] = task.key
                return task.key
        for task in possible:  # last, because reading an environment may take long
            if process.carries(orphan.pid, task.key):
                self._owners[orphan.identity] = task.key
                return task.key
        working = [task for task in possible if not task.waits]
        return working[0].key if len(working) == 1 else None

    def strays(self) -> list[Process]:
        """Orphans that can be of no task any more, with everything below them."""
        orphans = self.orphans()
        here = {orphan.identity for orphan in orphans}
        self._owners = {identity: key for identity, key in self._owners.items() if identity in here}
        lost = [orphan.pid for orphan in orphans if self.owner(orphan) == ""]
        return process.tree(lost, process.table()) if lost else []

    def give_up(self, task: Guarded) -> bool:
        """Whether what is left of a killed task cannot be ended: it waits for a device, after which it dies without
        another step, or it is not ours to kill. It is not looked at again."""
        members = self.members(task)
        if not all(member.state == "D" or not process.send(member, 0) for member in members):
            return False
        self._hopeless |= task.known
        return True

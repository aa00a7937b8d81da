"""Checks: shell commands that must succeed before a task may start. They run beside the work, never in its way.

A task whose check runs is in `checking/`, under our token, so that everybody sees it and nobody else takes it. A
thousand tasks that wait for the same thing are one check: it runs for the first of them, and counts for all. It runs
under the guard, like a task: when the worker dies it ends too.
"""

from __future__ import annotations

import heapq
import os
import shlex
from collections.abc import Callable

import msgspec

from paddock.queue import lifecycle
from paddock.queue.directory import DirectoryQueue
from paddock.queue.lifecycle import CHECKING, OWNED, QUEUED, Order, Place, Token, ended
from paddock.queue.order import cancelling
from paddock.queue.task import Task
from paddock.work.processes.guard import Exited, Guard
from paddock.work.queues.waiting import Candidate, Waiting

FRESH_SECONDS = 1.0  # how long a success counts, for tasks that wait for the same
FIRST_SECONDS, MOST_SECONDS = 1.0, 30.0  # how long a failed check rests before it is tried again
EACH_SECONDS = 0.1  # that many times the number of different checks: of thousands each rests longer
TIMEOUT_SECONDS = 60.0
AT_ONCE, SLOW_AT_ONCE, SLOW_SECONDS = 4, 32, 1.0  # those that take long, and so only wait, leave room for others

Wish = tuple[str, str, tuple[tuple[str, str], ...]]  # text, directory, environment: what makes two checks the same


class Check(msgspec.Struct):
    wish: Wish
    names: dict[str, None] = msgspec.field(default_factory=dict)  # of tasks that wait for it, as they asked
    rest: float = 0.0  # after the last failure
    due: float = 0.0
    passed: float = -1e9
    runs: bool = False


class Checking(msgspec.Struct):
    """A task that is in `checking/` because of us."""

    place: Place
    found: Candidate
    check: Check
    began: float
    misses: int = 0
    missed: float = 0.0


class Checks:
    def __init__(self, queue: DirectoryQueue, waiting: Waiting, guard: Guard, worker: str) -> None:
        self._queue, self._waiting, self._guard, self._worker = queue, waiting, guard, worker
        self._known: dict[Wish, Check] = {}
        self._due: list[tuple[float, int, Check]] = []
        self._count = 0  # makes entries of equal time comparable
        self.held: dict[str, Checking] = {}  # by the guard's key

    def allows(self, found: Candidate, now: float) -> bool:
        """Whether the task's check succeeded just now. When nobody knows, it will be run, and the task waits aside."""
        wish = _wish(found.file.task)
        check = self._known.get(wish)
        if check is None:
            if len(self._known) > 10_000:
                self._known = {w: c for w, c in self._known.items() if c.names or c.runs}
            check = self._known[wish] = Check(wish)
        if now - check.passed < FRESH_SECONDS:
            return True
        check.names[found.place.name] = None
        if len(check.names) == 1 and not check.runs:
            self._schedule(check)
        self._waiting.put_aside(found, "its check does not succeed yet")
        return False

    def _schedule(self, check: Check) -> None:
        self._count += 1
        heapq.heappush(self._due, (check.due, self._count, check))

    def pause(self, now: float) -> float:
        """Seconds until one is to be run."""
        if not self._due or not self._has_room(now):
            return 3600.0
        return max(self._due[0][0] - now, 0.0)

    def _has_room(self, now: float) -> bool:
        quick = sum(now - held.began < SLOW_SECONDS for held in self.held.values())
        return quick < AT_ONCE and len(self.held) < SLOW_AT_ONCE

    def launch(self, now: float) -> None:
        """Run what is due."""
        while self._due and self._due[0][0] <= now and self._has_room(now):
            check = heapq.heappop(self._due)[2]
            while check.names and not check.runs:
                name = next(iter(check.names))
                try:
                    self._begin(check, name, now)
                except OSError:
                    check.due = now + FIRST_SECONDS
                    self._schedule(check)
                    raise
                check.names.pop(name, None)

    def _begin(self, check: Check, name: str, now: float) -> None:
        place = lifecycle.place(QUEUED, name)
        found = self._waiting.read(place) if place is not None else None
        if found is None:
            return  # it was removed, or taken by another worker
        task = found.file.task
        if _wish(task) != check.wish:
            self._waiting.again(name)  # it was edited
            return
        token = Token(self._worker, len(found.file.attempts) + 1)
        mine = self._queue.claim(found.place, token, CHECKING)
        if mine is None:
            return
        self._waiting.mirror.moved(found.place, mine)
        self._count += 1
        key = f"{mine.id}~{token}+{self._count}"  # unlike the task's own, and that of the same check run again
        output = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
        try:
            self._guard.spawn(key, _argv(task), task.env, output, TIMEOUT_SECONDS, 1.0)
        finally:
            os.close(output)
        self.held[key] = Checking(mine, found, check, now)
        check.runs = True

    def ended(self, event: Exited, now: float) -> Checking | None:
        """The task whose check succeeded, still in `checking/`; None when it failed, and the task waits again."""
        held = self.held.pop(event.key)
        check = held.check
        check.runs = False
        passed = event.status == 0 and event.how == "itself"
        if passed:
            check.passed, check.rest, check.due = now, 0.0, now
            for name in check.names:
                self._waiting.again(name)
            check.names.clear()
            return held
        rest = min(check.rest * 2, MOST_SECONDS) or FIRST_SECONDS
        check.rest = max(rest, EACH_SECONDS * sum(bool(c.names) or c.runs for c in self._known.values()))
        check.due = now + check.rest
        if check.names:
            self._schedule(check)
        self.release(held)
        return None

    def release(self, held: Checking) -> None:
        """Take our token off, wherever the file is by now; a person may have moved it."""
        to = QUEUED if held.place.state in OWNED else held.place.state
        if self._queue.move(held.place, ended(held.place, to)):
            self._waiting.mirror.moved(held.place, ended(held.place, to))
            if to == QUEUED:
                self._waiting.again(ended(held.place, to).name)

    def obey(self, held: Checking, order: Order) -> None:
        """A person has moved the file elsewhere, or removed it."""
        key = next(key for key, one in self.held.items() if one is held)
        self.cancel(key)
        if order is Order.KILL:
            self.release(held)
        else:
            cancelling.confirm(self._queue, held.place)

    def cancel(self, key: str) -> Checking:
        """Its task is needed elsewhere, or gone: how it ends does not matter."""
        held = self.held.pop(key)
        held.check.runs = False
        if held.check.names:
            self._schedule(held.check)
        self._guard.kill(key, 0.0)
        return held

    def close(self, say: Callable[[str], None]) -> None:
        """Give back all tasks whose check runs."""
        for key in list(self.held):
            held = self.cancel(key)
            try:
                self.release(held)
            except OSError as error:
                say(f"{held.place.path} cannot be given back now ({error.strerror})")


def _wish(task: Task) -> Wish:
    return task.check, task.cwd, tuple(sorted(task.env.items()))


def _argv(task: Task) -> list[str]:
    """In the task's directory; roach's tasks have none, and are checked where the worker was started."""
    start = shlex.quote(os.getcwd())
    return [
        "/bin/sh",
        "-c",
        f"cd {shlex.quote(task.cwd) if task.cwd else start} 2>/dev/null || cd {start}\n{task.check}",
    ]

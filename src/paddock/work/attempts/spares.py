"""Processes that were started ahead for tasks that are likely to come: a task whose `warm` command waits ready begins
at once, because its interpreter has imported everything already.

Each becomes one task, and another is started in its place, so tasks have nothing in common but the time they save. Few
are kept, for they hold memory. They are under guard like any task, and end with the worker.
"""

from __future__ import annotations

import os
import shlex
import socket
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

import msgspec

from paddock.queue import handover
from paddock.queue.handover import Handover
from paddock.queue.task import Task
from paddock.record.layout import Home
from paddock.work.attempts.attempt import Running, exit_text
from paddock.work.processes.guard import Exited, Guard
from paddock.work.slots import Demand, Slots, visible

EACH, ALL = 2, 4  # how many are kept of a kind, and of all kinds together
KEEP_SECONDS = 3600.0  # after the last task of a kind that nobody has asked for
RELOAD_SECONDS = 0.2  # before one that was not up to date is replaced: an editor may not have finished
# Before another takes the place of one that is a task now. When a process enters its control group no other on this
# machine can start a process or a thread for 10 to 20 ms, and the task that has just begun is about to.
AFTER_SECONDS = 0.1
MOST_SECONDS = 60.0  # between two tries to start what does not start
_NAME = 64  # characters: a task's token must fit in the place of the spare's


class Kind(NamedTuple):
    """Tasks that the same process could become."""

    command: str
    directory: str
    env: tuple[tuple[str, str], ...] = ()
    gpus: int = 0

    @classmethod
    def of(cls, task: Task) -> Kind | None:
        if not task.warm or task.code or task.is_gang:
            return None
        return cls(task.warm, task.cwd or os.getcwd(), tuple(sorted(task.env.items())), task.gpus)


class Kept(msgspec.Struct):
    """A kind of which some are to be there."""

    kind: Kind
    until: float  # seconds on the monotonic clock
    used: float = 0.0  # when the last task of it came
    failures: int = 0
    again: float = 0.0  # when the next may be started


class Spare(msgspec.Struct):
    key: str
    kind: Kind
    gpus: tuple[str, ...]
    channel: socket.socket
    ready: bool = False

    def look(self) -> bool:
        """Whether it has said that it is ready."""
        if not self.ready:
            try:
                self.ready = self.channel.recv(len(handover.READY), socket.MSG_DONTWAIT) == handover.READY
            except OSError:
                pass
        return self.ready


class Spares:
    def __init__(
        self,
        guard: Guard,
        home: Home,
        worker: str,
        most: Slots,
        wanted: Iterable[Kind],
        learns: bool,
        say: Callable[[str], None],
    ) -> None:
        """`wanted` are kept all the time; when it `learns`, also those of tasks that came."""
        self._home, self._guard, self._worker, self._most, self._say = home, guard, worker, most, say
        self._learns = learns
        self._kept = {kind: Kept(kind, float("inf")) for kind in wanted}
        self._spares: dict[str, Spare] = {}
        self._count = 0
        self._closed = False

    def find(self, task: Task, free: Slots, now: float) -> Spare | None:
        """One that can become this task now. Remembers what kind of task it is."""
        kind = Kind.of(task)
        if kind is None:
            return None
        if self._learns or kind in self._kept:
            kept = self._kept.setdefault(kind, Kept(kind, 0.0))
            kept.until, kept.used = max(kept.until, now + KEEP_SECONDS), now
        fitting = [spare for spare in self._spares.values() if spare.kind == kind and set(spare.gpus) <= set(free.gpus)]
        return min(fitting, key=lambda spare: not spare.look(), default=None)

    def hand(
        self, spare: Spare, running: Running, environ: dict[str, str], output: int, timeout: float, grace: float
    ) -> bool:
        """Have it become the task; False when it cannot, and the task has to be started as usual."""
        if len(running.key) > len(spare.key):
            return False
        self._spares.pop(spare.key, None)
        task = Handover(running.key, running.task.command, running.directory, environ)
        with spare.channel:
            if not handover.send(spare.channel, task, output):
                self._guard.kill(spare.key, 0.0)
                return False
            self._guard.hand(spare.key, running.key, timeout, grace)
        kept = self._kept.get(spare.kind)
        if kept is not None:
            kept.again = max(kept.again, time.monotonic() + AFTER_SECONDS)
        return True

    def work(self, free: Slots, now: float) -> None:
        """Start what is missing, and end what nobody needs any more."""
        if not self._kept or self._closed:
            return
        self._kept = {kind: kept for kind, kept in self._kept.items() if kept.until > now}
        for kind, wanted in self._wanted().items():
            have = [spare for spare in self._spares.values() if spare.kind == kind]
            for spare in have[wanted:]:
                self._end(spare)
            while len(have) < wanted and now >= self._kept[kind].again:
                started = self._start(kind, free, have)
                if started is None:
                    break
                have.append(started)
        for spare in [spare for spare in self._spares.values() if spare.kind not in self._kept]:
            self._end(spare)

    def _wanted(self) -> dict[Kind, int]:
        """How many of each, those that were used last before the others: one of each before a second of any."""
        latest = sorted(self._kept, key=lambda kind: -self._kept[kind].used)[:ALL]
        found = dict.fromkeys(self._kept, 0)
        for kind in (latest * min(EACH, self._most.tasks))[:ALL]:
            found[kind] += 1
        return found

    def pause(self, now: float) -> float:
        """Seconds until one is to be started."""
        due = [kept.again - now for kept in self._kept.values() if kept.again > now]
        return min(due, default=3600.0)

    def exited(self, event: Exited, now: float) -> bool:
        """Whether that was one of them, which was still waiting."""
        spare = self._spares.pop(event.key, None)
        if spare is None:
            return False
        spare.channel.close()
        kept = self._kept.get(spare.kind)
        if kept is None:
            return True
        if os.WIFEXITED(event.status) and os.WEXITSTATUS(event.status) == handover.STALE:
            kept.failures, kept.again = 0, now + RELOAD_SECONDS
            return True
        kept.failures = 0 if spare.look() else kept.failures + 1
        kept.again = now + min(2.0**kept.failures, MOST_SECONDS)
        if kept.failures == 1:
            why = exit_text(event.status, event.how, -1)
            self._say(f"cannot be kept ready ({why}), and is started for each task: {spare.kind.command}")
        return True

    def close(self) -> None:
        """End all of them."""
        self._closed = True
        for spare in list(self._spares.values()):
            self._end(spare)

    def _start(self, kind: Kind, free: Slots, others: list[Spare]) -> Spare | None:
        taken = {gpu for spare in others for gpu in spare.gpus}
        gpus = tuple(gpu for gpu in free.gpus if gpu not in taken)[: kind.gpus]
        if len(gpus) < kind.gpus:
            return None
        self._count += 1
        key = f"spare-{self._count}".ljust(_NAME, "-") + f"~{self._worker}.0"
        env = {**dict(kind.env), "PADDOCK_RUN_HOME": str(self._home.path)}
        devices = visible(Demand(kind.gpus), gpus, self._most.share)
        if devices is not None:
            env["CUDA_VISIBLE_DEVICES"] = devices
        argv = ["/bin/sh", "-c", f"cd {shlex.quote(kind.directory)} || exit 127\nexec {kind.command}"]
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        nowhere = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
        try:
            self._guard.spawn(key, argv, env, nowhere, stdin=theirs.fileno())
        except OSError:  # no memory for the message
            ours.close()
            return None
        finally:
            theirs.close()
            os.close(nowhere)
        spare = self._spares[key] = Spare(key, kind, gpus, ours)
        return spare

    def _end(self, spare: Spare) -> None:
        del self._spares[spare.key]
        spare.channel.close()
        self._guard.kill(spare.key, 0.0)


def kinds(directory: Path, asked: Iterable[dict[str, object]]) -> tuple[Kind, ...]:
    """As they are written on a worker's command line."""
    return tuple(Kind(str(one["command"]), str(directory), (), int(str(one.get("gpus", 0)))) for one in asked)

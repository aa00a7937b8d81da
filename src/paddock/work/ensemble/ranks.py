"""The seats of this worker: slots that it keeps for tasks of several ranks, and the ranks that it runs."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from paddock.errors import Damaged, PaddockError
from paddock.queue import lifecycle
from paddock.queue.directory import DISK_ERRORS
from paddock.queue.ensemble import gang
from paddock.queue.ensemble.gang import Gang, Go, Result, Seat, Step
from paddock.queue.ensemble.gathering import Gathering
from paddock.queue.lifecycle import ACTIVE, Order, Place, Token
from paddock.queue.task import Task, TaskFile
from paddock.record.layout import Home
from paddock.record.process import oom_kills
from paddock.work.attempts import attempt as attempts
from paddock.work.attempts.codetree import work_directory
from paddock.work.options import Options
from paddock.work.processes import process
from paddock.work.processes.guard import Exited, Guard
from paddock.work.queues.desk import MISS_SECONDS, Desk
from paddock.work.queues.waiting import Candidate
from paddock.work.slots import Slots, visible

WITH_OTHERS = "ended with the others"


class Workplace(Protocol):
    """What seats need of their worker."""

    worker: str
    home: Home
    cache: Path
    guard: Guard
    options: Options
    free: Slots
    taken: int
    say: Callable[[str], None]


@dataclass
class Held:
    """One seat: first a slot that waits, then a rank that runs, then a result that is to be written."""

    desk: Desk
    place: Place  # of the task, when it was last seen waiting
    file: TaskFile
    seat: Seat
    gpus: tuple[str, ...]
    at: Gathering
    since: float = field(default_factory=time.monotonic)
    misses: int = 0
    missed: float = 0.0
    rank: int | None = None
    go: Go | None = None
    token: Token | None = None
    key: str = ""  # of the processes
    stopped: bool = False
    why: str = ""  # why we end it
    result: Result | None = None
    oom_before: int = -1

    @property
    def task(self) -> Task:
        return self.file.task

    @property
    def is_offer(self) -> bool:
        return self.rank is None

    def is_missed(self, now: float) -> bool:
        """Count a look that missed something; True when it is to be believed."""
        if now - self.missed >= MISS_SECONDS:
            self.misses, self.missed = self.misses + 1, now
        return self.misses >= 2


class Ranks:
    def __init__(self, work: Workplace) -> None:
        self._work = work
        self.held: dict[Seat, Held] = {}
        self._numbers = 0

    @property
    def offers(self) -> list[Held]:
        return [held for held in self.held.values() if held.is_offer]

    # Slots that wait

    def offer(self, desk: Desk, found: Candidate) -> Held | None:
        """Keep a slot for the task, and say so."""
        self._numbers += 1
        seat, at = Seat(self._work.worker, self._numbers), Gathering(desk.queue, found.place.id)
        try:
            at.offer(seat)
        except OSError:  # the directory was removed at this moment, or the disk refuses: at the next look
            return None
        self._work.free, gpus = self._work.free.take(found.file.task)
        self.held[seat] = Held(desk, found.place, found.file, seat, gpus, at)
        return self.held[seat]

    def withdraw(self, held: Held) -> bool:
        """False when it is too late."""
        if not held.at.withdraw(held.seat):
            return False
        self._forget(held)
        return True

    def _forget(self, held: Held) -> None:
        del self.held[held.seat]
        if not held.key:
            self._free(held)

    def _free(self, held: Held) -> None:
        self._work.free = self._work.free.give_back(held.task, held.gpus)

    # What the directories say

    def look(
        self, held: Held, found: Gang, places: Iterable[Place], sure: bool, *, wanted: bool, stopping: bool
    ) -> None:
        """`places` come from a listing made after that of the gathering; `wanted` says that the task waits for us."""
        mine = [place for place in places if place.id == held.place.id]
        if held.result is not None:
            self._report(held)
        elif held.key:
            self._obey(held, found, mine, sure)
        else:
            self._await(held, found, mine, sure, wanted, stopping)

    def _await(self, held: Held, found: Gang, places: list[Place], sure: bool, wanted: bool, stopping: bool) -> None:
        held.rank = found.ranks.get(held.seat)
        owner = next((place for place in places if place.token is not None), None)
        go = held.at.go(owner.token) if owner and owner.token in found.go else None
        step = gang.awaiting(held.seat, found, owner.token if owner else None, go, wanted)
        if step is Step.LEAVE:
            if sure and held.is_missed(time.monotonic()):
                held.at.leave(held.seat, held.rank or 0)
                self._forget(held)
            return
        held.misses = 0
        if step is Step.WITHDRAW:
            self.withdraw(held)
        elif step is Step.START and owner is not None and held.rank is not None:
            if stopping:
                held.key = gang.process_key(held.task.id, held.rank, held.seat)
                self._over(held, Result(held.rank, self._work.worker, how="requeued", exit="its worker stops"))
            elif owner.state == ACTIVE and self._reads(held, owner):
                held.go, held.token = go, owner.token
                self._start(held)

    def _reads(self, held: Held, owner: Place) -> bool:
        """All ranks run what the file says now that it is claimed; it may have been edited since the offer."""
        try:
            held.file = held.desk.queue.read(owner)
        except Damaged:  # edited by now; what was claimed could be read
            pass
        except OSError:
            return False
        return True

    def _obey(self, held: Held, found: Gang, places: list[Place], sure: bool) -> None:
        assert held.token is not None and held.go is not None
        if held.why:
            return
        missed = False
        if held.seat in found.ranks and any(place.token == held.token for place in places):
            held.misses = 0
        elif sure:
            missed = held.is_missed(time.monotonic())
        order = lifecycle.judge(held.token, places, stopped=held.stopped, sure=sure, misses=int(missed))
        if missed and order is Order.KEEP:
            order = Order.KILL  # somebody removed the rank's own file
        if order in (Order.KILL, Order.DROP):
            self.end(held, WITH_OTHERS, 0.0)
        elif gang.must_end(found, held.go, held.token):
            self.end(held, WITH_OTHERS, self._work.options.grace)
        elif order is Order.STOP:
            self._work.guard.stop(held.key)
            held.stopped = True
        elif order is Order.CONTINUE:
            self._work.guard.resume(held.key)
            held.stopped = False

    def end(self, held: Held, why: str, grace: float) -> None:
        held.why = held.why or why
        self._work.guard.kill(held.key, grace)

    # Running

    def _start(self, held: Held) -> None:
        assert held.go is not None and held.rank is not None
        work, task, run = self._work, held.task, self._work.home.run(held.task.id)
        held.key = gang.process_key(task.id, held.rank, held.seat)
        held.oom_before = oom_kills()
        if not any(h.key and h.token == held.token for h in self.held.values() if h is not held):
            work.taken += 1
        try:
            run.output.mkdir(parents=True, exist_ok=True)
            directory = work_directory(task, work.home, str(run.path), work.cache)
            output = os.open(
                output_path(run.output, held.go, held.rank),
                os.O_CREAT | os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC,
                0o644,
            )
        except (PaddockError, OSError) as error:
            away = isinstance(error, OSError) and error.errno in DISK_ERRORS
            self._over(
                held, Result(held.rank, work.worker, how="requeued" if away else "not run", exit=f"not run: {error}")
            )
            return
        try:
            environ = attempts.environment(task, held.go.attempt, work.home, self._devices(held))
            environ |= gang.environment(held.go, held.seat)
            command = attempts.argv(task.command, directory, str(run.path))
            work.guard.spawn(held.key, command, environ, output, task.timeout, work.options.grace)
        finally:
            os.close(output)
        work.say(f"running: rank {held.rank} of {len(held.go.seats)} of {task.id}")

    def _devices(self, held: Held) -> str | None:
        """With a GPU for each rank all ranks of a worker see each other's, and use the one of their LOCAL_RANK, as they
        do under torchrun. With several for each, or none, a rank sees what any task would see."""
        if len(held.gpus) != 1:
            return visible(held.task, held.gpus, self._work.options.slots.share)
        assert held.go is not None
        beside = [self.held[seat] for seat in held.go.places if seat in self.held]
        return ",".join(gpu for other in beside for gpu in other.gpus)

    def heard(self, event: Exited) -> bool:
        """True when it is about one of our ranks."""
        held = next((h for h in self.held.values() if h.key == event.key and h.result is None), None)
        if held is None or held.rank is None:
            return False
        how = (held.why or WITH_OTHERS) if event.how == "killed" else event.how
        text = event.reason or attempts.exit_text(event.status, event.how, held.oom_before)
        result = Result(
            held.rank,
            self._work.worker,
            socket.gethostname(),
            event.status,
            how,
            text,
            round(event.seconds, 3),
            event.max_rss,
            round(event.user + event.system, 3),
        )
        self._over(held, result)
        return True

    def guard_died(self) -> None:
        for held in list(self.held.values()):
            if held.key and held.result is None and held.rank is not None:
                process.kill_marked(held.key)
                self._over(held, Result(held.rank, self._work.worker, how="lost", exit="its guard died"))

    def _over(self, held: Held, result: Result) -> None:
        """Nothing of the rank is left. The others hear of it from a file."""
        self._free(held)
        held.result = result
        self._report(held)

    def _report(self, held: Held) -> None:
        assert held.result is not None
        try:
            held.at.say_result(held.seat, held.result)
        except OSError:
            return  # again at the next look: without it the others would wait for ever
        self._work.say(f"rank {held.result.rank} of {held.task.id}: {held.result.exit} ({held.result.how})")
        self._forget(held)

    def stop(self, *, at_once: bool, drain: bool) -> None:
        """Keep nothing any longer; give back what runs, or let it finish."""
        for held in list(self.held.values()):
            if held.is_offer:
                self.withdraw(held)
            elif held.key and held.result is None and not drain:
                self.end(held, "requeued", 0.0 if at_once else self._work.options.grace)


def output_path(directory: Path, go: Go, rank: int) -> Path:
    return directory / (f"{go.attempt}.r{rank}.log" if rank else f"{go.attempt}.log")

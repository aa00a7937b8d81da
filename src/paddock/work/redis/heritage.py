"""What dead workers of a queue in Redis left behind.

On the same machine a worker is dead when its process is gone, and its guard. Of other machines only the counter of its
beats is looked at, by our own clock. Whatever it had goes back to the front of the queue, and is noted as lost; what
its tray says of an attempt that had ended is believed.
"""

from __future__ import annotations

import contextlib
import math
import shutil
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from paddock import files, wire
from paddock.errors import Damaged
from paddock.queue.directory import DirectoryQueue
from paddock.queue.lease import Identity, Watch
from paddock.queue.lifecycle import (
    ACTIVE,
    CHECKING,
    DONE,
    FAILED,
    LOOK,
    PAUSED,
    QUEUED,
    Place,
    Token,
    inherited,
    is_mover,
)
from paddock.queue.redis import jobs
from paddock.queue.task import Attempt, TaskFile, read, render_attempt
from paddock.work.processes import process
from paddock.work.redis.held import Stock


class Heritage:
    def __init__(self, stock: Stock, worker: str) -> None:
        self._queue, self._held, self._say = stock.queue, stock.held, stock.say
        self._worker, self._reclaim = worker, stock.options.liveness.reclaim
        self._beats: dict[str, tuple[int, float]] = {}  # and when we saw it become that
        self._living: set[str] = set()  # processes of this machine, and whose beat we have seen change
        self._between: dict[str, float] = {}  # what a worker of RQ has taken and not begun, since when
        self._watch = Watch(Path(), math.inf)

    def look(self) -> None:
        keys = self._queue.keys
        with self._queue.connection.pipeline(transaction=True) as pipeline:
            for what in ("workers", "beats", "claims"):
                pipeline.hgetall(keys.own(what))
            pipeline.zrangebyscore(keys.rq("wip"), "-inf", time.time())
            pipeline.lrange(f"{keys.waiting}:intermediate", 0, -1)
            known, beats, claims, silent, between = pipeline.execute()
        for entry in silent:
            task, _, execution = entry.decode().partition(":")
            self._give_up(task, execution)
        self._turn_back([entry.decode() for entry in between])
        owners: dict[str, list[tuple[str, Token]]] = {name.decode(): [] for name in known}
        for task, value in claims.items():
            claim = value.split()[0].decode()
            worker, _, epoch = claim.rpartition(".")
            owners.setdefault(worker, []).append((task.decode(), Token(worker, int(epoch))))
        for worker, tasks in owners.items():
            if worker == self._worker:
                self._give_back([(task, token) for task, token in tasks if task not in self._held])
                continue
            identity, tray = _identity(known.get(worker.encode()))
            is_dead = self._is_dead(worker, identity, int(beats.get(worker.encode(), -1)))
            if not is_dead and identity is not None and self._watch.is_there(identity):
                self._living.add(worker)
            if is_dead:
                self._living.discard(worker)
                here = identity is not None and identity.is_here()
                if here:
                    for key in process.tokens_of(worker):
                        process.kill_marked(key)
                for task, token in tasks:
                    self._take_over(task, token, tray if here else None)
                self._bury(worker, tray if here else None)

    def is_alive(self, worker: str) -> bool:
        """Whether we have seen it show that it lives. False says nothing."""
        return worker in self._living

    def _give_up(self, task: str, execution: str) -> None:
        """What a worker of RQ had that has been silent for too long. Jobs of others are none of our business."""
        queue = self._queue
        with contextlib.suppress(FileNotFoundError, Damaged):
            data = queue.data(task)
            worker = (queue.connection.hget(queue.keys.job(task), "worker_name") or b"rq").decode()
            file, why = read(data, task), f"its worker {worker}, of RQ, is not heard of any more"
            note = Attempt(number=len(file.attempts) + 1, worker=worker, outcome="lost", exit=why)
            data += render_attempt(note, file.fence)
            _, payload = jobs.result(False, why)
            if queue.change("abandon", task, execution, data, note.number, jobs.moment(), payload, worker):
                self._say(f"failed ({why}): {task}")

    def _turn_back(self, tasks: Sequence[str]) -> None:
        now = time.monotonic()
        self._between = {task: self._between.get(task, now) for task in tasks}
        for task, since in self._between.items():
            known = now - since > self._reclaim and self._queue.connection.hexists(self._queue.keys.own("tasks"), task)
            if known and self._queue.change("turn_back", task):
                self._say(f"{task} was taken by a worker of RQ that did not begin it: it goes back")

    def _give_back(self, tasks: Sequence[tuple[str, Token]]) -> None:
        """Claims of our own that we never heard of: the answer was lost on its way. Nobody runs them."""
        for task, token in tasks:
            with contextlib.suppress(FileNotFoundError, Damaged):
                data = self._queue.data(task)
                if self._queue.finish(task, str(token), "front", data, len(read(data, task).attempts)):
                    self._say(f"{task} was given to us, and the answer was lost: it goes back")

    def _is_dead(self, worker: str, identity: Identity | None, beat: int) -> bool:
        now = time.monotonic()
        if identity is not None and self._watch.is_gone(identity):
            return True
        seen = self._beats.get(worker)
        if seen is None or seen[0] != beat:
            if seen is not None and beat >= 0:
                self._living.add(worker)
            self._beats[worker] = beat, now
            return False
        return now - seen[1] > self._reclaim

    def _take_over(self, task: str, token: Token, tray: Path | None) -> None:
        found = _in_tray(tray, task)
        try:
            data = self._queue.data(task)
            file = read(data, task)
            if found is not None:
                data = _completed(data, file, read(found[1], task))
                file = read(data, task)
            state, data, attempts = _judged(found[0] if found is not None else None, file, data, token)
        except (FileNotFoundError, Damaged):
            state, data, attempts = "front", b"", token.epoch
        if self._queue.finish(task, str(token), state, data, attempts, why=f"its worker {token.worker} died"):
            self._say(f"taken over from {token.worker}: {task} goes to {'queued' if state == 'front' else state}")

    def _bury(self, worker: str, tray: Path | None) -> None:
        self._queue.forget(worker)
        if tray is not None:
            shutil.rmtree(tray, ignore_errors=True)


def _identity(data: bytes | None) -> tuple[Identity | None, Path | None]:
    if data is None:
        return None, None
    try:
        found = wire.loads(data)
        tray = found.pop("tray", "")
        return Identity(**found), Path(tray) if tray else None
    except (wire.DecodeError, msgspec.ValidationError, TypeError, AttributeError):
        return None, None


def _in_tray(tray: Path | None, task: str) -> tuple[Place, bytes] | None:
    if tray is None:
        return None
    queue = DirectoryQueue(tray)
    for place in reversed(queue.list(LOOK).places):
        if place.id == task:
            try:
                return place, files.read_from(queue.file(place), 0)
            except OSError:
                return None
    return None


def _completed(data: bytes, file: TaskFile, there: TaskFile) -> bytes:
    """The file as Redis has it, with the attempts that only the tray knows of."""
    ending = b"" if data.endswith(b"\n") else b"\n"
    more = there.attempts[len(file.attempts) :]
    return data + ending + b"".join(render_attempt(one, file.fence) for one in more)


def _judged(place: Place | None, file: TaskFile, data: bytes, token: Token) -> tuple[str, bytes, int]:
    """Where it goes, its file with what is to be noted, and how many attempts that makes. An attempt that had noted how
    it ended is not run again."""
    attempts = len(file.attempts)
    if is_mover(token.worker):
        return "front", data, attempts  # nobody ran it: who carried it to another queue died on the way
    if place is not None and place.token is None and place.state in (DONE, FAILED):
        return place.state, data, attempts
    if place is not None and place.token is None and place.state in (QUEUED, PAUSED):
        return "front", data, attempts  # it had not begun, or waited to be tried again
    if place is not None and place.state == CHECKING:
        return "front", data, attempts
    number = place.token.epoch if place is not None and place.token is not None else token.epoch
    found = inherited(ACTIVE, file, Token(token.worker, number))
    if found.note is not None:
        ending = b"" if data.endswith(b"\n") else b"\n"
        data, attempts = data + ending + render_attempt(found.note, file.fence), attempts + 1
    return "front" if found.state == QUEUED else found.state, data, attempts

"""A queue in Redis, as the verbs see every queue: places, files, and changes that either happen or do not.

Where a task is, is read off RQ's own keys in one transaction, so a listing is of one moment. Jobs of others in the same
queue are strangers: they are named and left alone.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from paddock import wire
from paddock.errors import Damaged, NotFound, Refused, Unreachable
from paddock.queue.abilities import Abilities
from paddock.queue.check import wait_check
from paddock.queue.directory import Listing
from paddock.queue.lease import Identity
from paddock.queue.lifecycle import DONE, FAILED, PAUSED, QUEUED, STATES, Place, settle
from paddock.queue.redis import jobs
from paddock.queue.redis.address import Address, parse
from paddock.queue.redis.connection import TIMEOUT_SECONDS, changes, connect, sentences
from paddock.queue.redis.content import Content, aside, look, mark, states
from paddock.queue.redis.crew import crew, forget
from paddock.queue.redis.keys import WORKER, Keys
from paddock.queue.task import Attempt, Dependency, Task, TaskFile, name_in, read, render_attempt

ABILITIES = Abilities(files=False, ranks=False, several=False, apart=True, jobs=False)
_OVER = (DONE, FAILED)
_AT_ONCE = 500  # tasks of one transaction


class RedisQueue:
    abilities = ABILITIES

    def __init__(self, url: str, patience: float = TIMEOUT_SECONDS) -> None:
        self.where: Address = parse(url)
        self._patience = patience
        self.keys = Keys(self.where.queue)
        self._connection: Any = None
        self._script: Any = None
        self._after: dict[str, tuple[Dependency, ...]] = {}

    @property
    def name(self) -> str:
        return self.where.queue

    @property
    def address(self) -> str:
        return self.where.shown

    @property
    def connection(self) -> Any:
        if self._connection is None:
            self._connection = connect(self.where, self._patience)
            self._script = changes(self._connection)
        return self._connection

    def change(self, what: str, *arguments: Any, pipeline: Any = None) -> Any:
        """One whole change; see queue.lua."""
        connection = self.connection
        words = (what, self.name, *arguments)
        return self._script(keys=[self.keys.waiting], args=words, client=pipeline or connection)

    def hand_on(self) -> None:
        """What this process starts may know the password too: an address never has it."""
        if self.where.password:
            os.environ.setdefault("PADDOCK_REDIS_PASSWORD", self.where.password)

    def exists(self) -> bool:
        """Whether there is such a queue on a server that answers."""
        with sentences(self.where):
            return bool(self.connection.exists(self.keys.own("here"), self.keys.waiting, self.keys.rq("workers")))

    def require(self) -> None:
        if not self.exists():
            raise NotFound(f"There is no queue {self.address}.", hint="`paddock submit` makes one; check the name.")

    def prepare(self) -> None:
        with sentences(self.where):  # not when it is there: orders are to reach a Redis that takes nothing new, too
            if not self.connection.exists(self.keys.own("here")):
                self.connection.set(self.keys.own("here"), "1")

    # Reading

    def content(self) -> Content:
        with sentences(self.where):
            return look(self.connection, self.keys)

    def list(self, states: Iterable[str] = STATES) -> Listing:
        found, wanted = self.content(), set(states)
        places = [place for place in found.places if place.state in wanted]
        strangers = [name for name in found.strangers if name.partition("/")[0] in wanted]
        return Listing(places, strangers, found.here)

    def mark(self) -> str:
        """The same for as long as no task has changed its place."""
        with sentences(self.where):
            return mark(self.connection, self.keys)

    def texts(self, tasks: Sequence[str]) -> dict[str, bytes]:
        """The files of many tasks, as `data` has them; without those that are none, or gone."""
        found: dict[str, bytes] = {}
        for first in range(0, len(tasks), _AT_ONCE):
            some = tasks[first : first + _AT_ONCE]
            with sentences(self.where), self.connection.pipeline(transaction=False) as pipeline:
                for task in some:
                    pipeline.hmget(self.keys.job(task), jobs.FIELD, "data")
                answers = pipeline.execute()
            for task, pair in zip(some, answers, strict=True):
                with contextlib.suppress(Damaged):
                    found[task] = jobs.text(tuple(pair), task)
        return found

    def data(self, task: str) -> bytes:
        """The task's file; FileNotFoundError when there is no such job."""
        with sentences(self.where):
            found = self.connection.hmget(self.keys.job(task), jobs.FIELD, "data")
        if found == [None, None]:
            raise FileNotFoundError(task)
        return jobs.text((found[0], found[1]), task)

    def read(self, place: Place) -> TaskFile:
        return read(self.data(place.id), place.id)

    def raw(self, place: Place) -> bytes:
        return self.data(place.id)

    def title(self, place: Place) -> str:
        """The task's name."""
        return name_in(self.data(place.id))

    def distrust(self, place: Place) -> str:
        return ""  # whoever may write to this Redis is trusted: docs/how-to/redis.md

    def since(self, place: Place) -> float | None:
        """When it was last taken; of one that is over, when it ended."""
        with sentences(self.where):
            text = self.connection.hget(self.keys.job(place.id), "ended_at" if place.state in _OVER else "started_at")
        return jobs.parse_moment(text.decode()) if text else None

    def now(self) -> float:
        with sentences(self.where):
            seconds, micros = self.connection.time()
        return float(seconds + micros / 1e6)

    def reasons(self) -> Mapping[str, str]:
        with sentences(self.where):
            found = self.connection.hgetall(self.keys.own("why"))
        return {task.decode(): why.decode("utf-8", "replace") for task, why in found.items()}

    def check(self, task: str) -> str:
        """A shell command that succeeds once the task is done."""
        return wait_check(self.address, task)

    # Changing

    def put(self, tasks: Sequence[Task]) -> None:
        made = [(task, jobs.fields(task, self.name)) for task in tasks]  # every mistake before the first is sent
        sent: list[str] = []
        with sentences(self.where), self._unsure(len(made)):
            _ = self.connection
            for first in range(0, len(made), _AT_ONCE):
                some = made[first : first + _AT_ONCE]
                with self.connection.pipeline(transaction=True) as pipeline:
                    for task, fields in some:
                        state = "deferred" if task.after else "queued"
                        pairs = [item for pair in fields.items() for item in pair]
                        self.change("put", task.id, jobs.about(task), state, *pairs, pipeline=pipeline)
                    answers = pipeline.execute(raise_on_error=False)
                sent += [task.id for (task, _), answer in zip(some, answers, strict=True) if answer == 1]
                refusal = next((answer for answer in answers if isinstance(answer, Exception)), None)
                if refusal is not None:
                    self._take_back(sent, len(made), refusal)
        if any(task.after for task in tasks):
            self.tend()

    def _take_back(self, sent: Sequence[str], count: int, refusal: Exception) -> None:
        """All or none; and a sentence why it is none."""
        kept = [task for task in sent if not self.change("remove", task, QUEUED, "")]
        said = f"{len(kept)} of {count} tasks had begun by then." if kept else "Nothing was submitted."
        try:
            with sentences(self.where):
                raise refusal
        except (Refused, Unreachable) as error:
            raise type(error)(f"{error.message} {said}", hint=error.hint) from None

    @contextlib.contextmanager
    def _unsure(self, count: int) -> Iterator[None]:
        """When no answer comes nobody knows whether it was heard."""
        import redis

        try:
            yield
        except redis.exceptions.TimeoutError as error:
            raise Unreachable(
                f"{self.where.server} did not answer ({error}), and may have taken {count} tasks all the same.",
                hint=f"`paddock status -Q '{self.address}'` says it, before you submit again.",
            ) from None

    def place_copy(self, data: bytes, at: Place) -> None:
        """A task's file from elsewhere, with all its history: over, or held by who carries it."""
        file = read(data, at.id)
        fields = jobs.fields(file.task, self.name) | {jobs.FIELD: data}
        about = jobs.about(msgspec.structs.replace(file.task, priority=at.priority), len(file.attempts))
        pairs = [item for pair in fields.items() for item in pair]
        with sentences(self.where):
            if not self.change("adopt", at.id, about, at.state, str(at.token or ""), *pairs):
                raise Refused(f"{self.address} has a job {at.id} already.")

    def move(self, place: Place, to: Place) -> bool:
        token = str(place.token) if place.token else ""
        if to.token and not place.token:
            with sentences(self.where):
                return bool(self.change("hold", place.id, place.state, str(to.token)))
        if place.token and not self._is_ours(place):
            raise Refused(
                f"{place.id} is run by a worker of RQ ({place.token.worker}), which takes no orders of ours.",
                hint="`paddock worker` does; this one ends by rq's own means.",
            )
        again = to.state == QUEUED and (place.token is not None or place.state in (PAUSED, FAILED, DONE))
        waits = again and self._has_parents(place)
        what = "let_go" if place.token and not to.token else "move"
        with sentences(self.where):
            priority = to.priority if to.state in (QUEUED, PAUSED) or to.token else place.priority
            moved = self.change(what, place.id, place.state, token, to.state, priority, "1" if waits else "0")
        if moved and waits:
            self.tend()
        return bool(moved)

    def _is_ours(self, place: Place) -> bool:
        with sentences(self.where):
            return bool(self.connection.hexists(self.keys.own("claims"), place.id))

    def _has_parents(self, place: Place) -> bool:
        with contextlib.suppress(OSError, Damaged):
            return bool(self.read(place).task.after)
        return False

    def remove(self, place: Place) -> bool:
        with sentences(self.where):
            token = str(place.token) if place.token else ""
            return bool(self.change("remove", place.id, place.state, token))

    def sync(self, states: Iterable[str]) -> None:
        """Redis sees to its own disk."""

    # What waits for others, or for a while

    def tend(self) -> None:
        """Let those go on that have rested, or whose parents are over; those that never can go on fail. Whoever looks
        does it, and doing it twice does no harm."""
        with sentences(self.where):
            waiting = aside(self.connection, self.keys)
        self._learn(waiting)
        parents = sorted({dependency.task for after in self._after.values() for dependency in after})
        with sentences(self.where):
            known = states(self.connection, self.keys, parents)
            for task, after in self._after.items():
                verdict = settle(after, known)
                if verdict.ready:
                    self.change("admit", task)
                elif verdict.doomed:
                    self._fail_unrun(task, verdict.doomed)

    def _learn(self, tasks: Sequence[str]) -> None:
        """What each of these waits for; the others are forgotten."""
        texts = self.texts([task for task in tasks if task not in self._after])
        for task, data in texts.items():
            with contextlib.suppress(Damaged):
                self._after[task] = read(data, task).task.after
        self._after = {task: self._after[task] for task in tasks if task in self._after}

    def _fail_unrun(self, task: str, why: str) -> None:
        with contextlib.suppress(FileNotFoundError):  # somebody removed it meanwhile
            self._note_unrun(task, self.data(task), why)

    def _note_unrun(self, task: str, data: bytes, why: str) -> None:
        file = read(data, task)
        note = Attempt(number=len(file.attempts) + 1, outcome="failed", exit=f"not run: {why}")
        self.finish(task, "", FAILED, data + render_attempt(note, file.fence), note.number, why=note.exit)

    def finish(
        self, task: str, claim: str, state: str, data: bytes, attempts: int, *, rest: float = 0.0, why: str = ""
    ) -> bool:
        """What became of a claim, "" for a task that nobody has: done, failed, queued, front, rest, gone. False when
        somebody else has it by now."""
        worker = claim.rpartition(".")[0]
        kind, payload = jobs.result(state == DONE, why)
        words = (task, claim, state, data, attempts, jobs.moment(), kind, payload, worker, rest, why)
        return bool(self.change("finish", *words))

    # Workers

    def crew(self) -> Sequence[tuple[Identity, float, bool]]:
        """Each worker, the seconds since it was last heard of, and whether that is too long."""
        with sentences(self.where):
            return crew(self.connection, self.keys)

    def forget(self, worker: str) -> None:
        """It is dead, and has nothing any more."""
        with sentences(self.where), self.connection.pipeline(transaction=True) as pipeline:
            forget(pipeline, self.keys, worker)
            pipeline.delete(f"{WORKER}{worker}")
            pipeline.execute()

    def dismiss(self, worker: str) -> None:
        """Tell a worker to end, as RQ does."""
        with sentences(self.where):
            self.connection.publish(f"rq:pubsub:{worker}", wire.dumps({"command": "shutdown"}))

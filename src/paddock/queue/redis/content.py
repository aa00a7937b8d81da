"""Where each task of a queue is, read off RQ's own keys in one transaction: so it is of one moment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from paddock.queue.lifecycle import ACTIVE, CANCELLED, CHECKING, DONE, FAILED, PAUSED, QUEUED, Place, Token
from paddock.queue.redis.keys import Keys


class Content(NamedTuple):
    """All of a queue at one moment."""

    here: bool
    tasks: dict[str, list[int]]  # what jobs.about says of each
    places: list[Place]
    strangers: list[str]


def look(connection: Any, keys: Keys) -> Content:
    with connection.pipeline(transaction=True) as pipeline:
        pipeline.exists(keys.own("here"))
        pipeline.hgetall(keys.own("tasks"))
        pipeline.hgetall(keys.own("claims"))
        for name in ("paused", "cancelled", "checking"):
            pipeline.smembers(keys.own(name))
        pipeline.lrange(keys.waiting, 0, -1)
        pipeline.lrange(f"{keys.waiting}:intermediate", 0, -1)
        for name in ("deferred", "wip", "failed", "finished"):
            pipeline.zrange(keys.rq(name), 0, -1)
        found = pipeline.execute()
    return _sorted(found, connection, keys)


def aside(connection: Any, keys: Keys) -> list[str]:
    """What waits, but not in RQ's list: for others, or for a while that is over by the server's clock."""
    with connection.pipeline(transaction=True) as pipeline:
        pipeline.zrange(keys.rq("deferred"), 0, -1)
        pipeline.smembers(keys.own("paused"))
        pipeline.zrange(keys.own("rests"), 0, -1, withscores=True)
        pipeline.time()
        deferred, paused, rests, (seconds, micros) = pipeline.execute()
    resting = {task for task, until in rests if until > seconds + micros / 1e6}
    return [task.decode() for task in deferred if task not in paused and task not in resting]


def states(connection: Any, keys: Keys, tasks: Sequence[str]) -> dict[str, str]:
    """How far some are: over, or still to be; without those that are not there."""
    with connection.pipeline(transaction=True) as pipeline:
        for task in tasks:
            pipeline.hexists(keys.own("tasks"), task)
            pipeline.exists(keys.job(task))
            pipeline.zscore(keys.rq("failed"), task)
            pipeline.zscore(keys.rq("finished"), task)
        answers = pipeline.execute()
    found = {}
    for number, task in enumerate(tasks):
        ours, there, failed, finished = answers[4 * number : 4 * number + 4]
        if ours and there:
            found[task] = FAILED if failed is not None else DONE if finished is not None else QUEUED
    return found


def mark(connection: Any, keys: Keys) -> str:
    """The same for as long as no task has changed its place, whatever their number. What workers of RQ move changes the
    length of something."""
    with connection.pipeline(transaction=True) as pipeline:
        pipeline.get(keys.own("changes"))
        pipeline.hlen(keys.own("tasks"))
        pipeline.llen(keys.waiting)
        pipeline.llen(f"{keys.waiting}:intermediate")
        for name in ("deferred", "wip", "failed", "finished"):
            pipeline.zcard(keys.rq(name))
        changes, *lengths = pipeline.execute()
    return " ".join([(changes or b"0").decode(), *map(str, lengths)])


def _sorted(found: Sequence[Any], connection: Any, keys: Keys) -> Content:
    here, known, held, paused, cancelled, checking, waiting, between, aside, wip, failed, finished = found
    tasks = {key.decode(): [int(word) for word in value.split()] for key, value in known.items()}
    claims = {key.decode(): token(value) for key, value in held.items()}
    started = [entry.decode().partition(":")[0] for entry in wip]
    strange = [*started, *(key.decode() for key in between)]
    unclaimed = [task for task in dict.fromkeys(strange) if task not in claims and task in tasks]
    claims |= _plain(unclaimed, tasks, connection, keys)
    places: list[Place] = []
    strangers: list[str] = []

    def add(state: str, name: bytes | str, token: Token | None = None) -> None:
        task = name if isinstance(name, str) else name.decode("utf-8", "replace")
        if task in tasks:
            priority = tasks[task][0] if state in (QUEUED, PAUSED, ACTIVE, CHECKING) else 0
            places.append(Place(state, task, priority, token))
        else:
            strangers.append(f"{state}/{task}")

    for task in waiting:
        add(QUEUED, task)
    for task in aside:
        add(PAUSED if task in paused else QUEUED, task)
    for name, holder in claims.items():
        key = name.encode()
        state = CANCELLED if key in cancelled else PAUSED if key in paused else ACTIVE
        add(CHECKING if state == ACTIVE and key in checking else state, name, holder)
    for name in dict.fromkeys(strange):
        if name not in claims:
            add(ACTIVE, name)
    for task in failed:
        add(FAILED, task)
    for task in finished:
        add(DONE, task)
    return Content(bool(here), tasks, places, strangers)


def _plain(tasks: Sequence[str], about: Mapping[str, Sequence[int]], connection: Any, keys: Keys) -> dict[str, Token]:
    """Those that a worker of RQ runs."""
    if not tasks:
        return {}
    with connection.pipeline(transaction=False) as pipeline:
        for task in tasks:
            pipeline.hget(keys.job(task), "worker_name")
        names = pipeline.execute()
    return {task: Token((name or b"rq").decode(), about[task][5] + 1) for task, name in zip(tasks, names, strict=True)}


def token(value: bytes) -> Token:
    """Of a claim, as Redis has it."""
    worker, _, epoch = value.split()[0].decode().rpartition(".")
    return Token(worker, int(epoch))

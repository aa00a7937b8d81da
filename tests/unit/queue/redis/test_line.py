"""Who is next in a real Redis: found without a look at all the others, and whatever RQ did meanwhile."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from rq import Queue as RqQueue
from rq.job import Job
from rq.registry import FailedJobRegistry
from rq.serializers import JSONSerializer

from paddock.queue.lifecycle import QUEUED, Place
from paddock.queue.redis.queue import RedisQueue
from paddock.queue.task import Task

MOST = 1 << 60
INDEX = ("order", "placed", "needs", "numbers", "mended", "line:*")


def _take(queue: RedisQueue, gpus: int = 0, cpus: int = MOST, slots: int = 1) -> str | None:
    found = queue.change("take", "w", "x", "", 0, slots, gpus, cpus, MOST, 4, gpus, cpus, MOST)
    return found[0].decode() if found else None


def _list(queue: RedisQueue) -> list[str]:
    return [task.decode() for task in queue.connection.lrange(queue.keys.waiting, 0, -1)]


def _rq(queue: RedisQueue) -> RqQueue:
    return RqQueue(queue.name, connection=queue.connection, serializer=JSONSerializer)


def _forget_lines(queue: RedisQueue) -> None:
    """What is left is a queue as a version without lines had it."""
    for what in INDEX:
        for key in queue.connection.keys(queue.keys.own(what)):
            queue.connection.delete(key)


def _commands(queue: RedisQueue, act: Callable[[], object]) -> int:
    """How many it took in the server, those of the script included."""
    queue.connection.config_resetstat()
    act()
    found = queue.connection.info("commandstats")
    return sum(one["calls"] for name, one in found.items() if name not in ("cmdstat_info", "cmdstat_config|resetstat"))


def _costs(queue: RedisQueue, ahead: int) -> dict[str, int]:
    """With so many in the queue that fit nobody."""
    queue.connection.flushdb()
    queue.put([Task(id=f"big{number}", command="true", gpus=8) for number in range(ahead)])
    queue.put([Task(id="small", command="true"), Task(id="later", command="true")])
    found = {"take": _commands(queue, lambda: _take(queue))}
    assert queue.list(["active"]).places[0].id == "small"
    found["give back"] = _commands(queue, lambda: queue.finish("small", "w.1", "front", b"", 1))
    assert _list(queue)[0] == "small"
    found["submit first"] = _commands(queue, lambda: queue.put([Task(id="first", command="true", priority=5)]))
    assert _list(queue)[0] == "first"
    found["submit last"] = _commands(queue, lambda: queue.put([Task(id="last", command="true", priority=-5)]))
    assert _list(queue)[-1] == "last"
    for _ in range(4):
        assert _take(queue)
    assert _take(queue) is None  # which looks through all of it, once in a while
    found["nothing to take"] = _commands(queue, lambda: _take(queue))
    return found


def test_what_fits_nobody_costs_nobody_anything(queue: RedisQueue) -> None:
    assert _costs(queue, 10) == _costs(queue, 3000)


def test_every_need_has_a_line_and_the_oldest_of_the_first_ones_is_next(queue: RedisQueue) -> None:
    queue.put(
        [
            Task(id="gpu", command="true", gpus=1),
            Task(id="plain", command="true"),
            Task(id="cores", command="true", cpus=4),
            Task(id="checked", command="true", check="true"),
            Task(id="urgent", command="true", gpus=2, priority=3),
        ]
    )
    assert _take(queue, gpus=1, cpus=2) == "gpu"
    assert _take(queue, gpus=2, cpus=2) == "urgent"
    assert [_take(queue, cpus=2), _take(queue, cpus=2), _take(queue, cpus=2)] == ["plain", "checked", None]
    assert _take(queue, cpus=4) == "cores"
    assert [
        key for what in ("order", "placed", "needs", "line:*") for key in queue.connection.keys(f"paddock:q:{what}")
    ] == []


@pytest.mark.parametrize("seed", range(4))
def test_a_worker_takes_what_rqs_list_has_first_for_it(queue: RedisQueue, seed: int) -> None:
    """After any orders, and with others that take and push beside us."""
    dice, needs = random.Random(seed), {}
    for number in range(400):
        task, kind = f"t{number}", dice.randrange(8)
        waiting = _list(queue)
        if kind < 3 or not waiting:
            needs[task] = dice.randrange(3)
            queue.put([Task(id=task, command="true", gpus=needs[task], priority=dice.choice((0, 0, 0, 5, -5)))])
        elif kind < 5:
            gpus = dice.randrange(3)
            assert _take(queue, gpus) == next((one for one in waiting if needs[one] <= gpus), None)
        elif kind == 5:
            held = queue.list(["active"]).places
            if held:
                at = dice.choice(held)
                queue.finish(at.id, str(at.token), dice.choice(("front", "queued")), b"", 1)
        elif kind == 6:
            at = dice.choice(queue.list([QUEUED]).places)
            assert queue.move(at, at._replace(priority=dice.choice((0, 5, -5))))
        else:
            queue.connection.lpop(queue.keys.waiting)  # a plain worker of RQ
    left = len(_list(queue))
    assert [_take(queue, 2) for _ in range(left + 1)].count(None) == 1


def test_tasks_of_a_version_without_lines_are_taken_in_their_order(queue: RedisQueue) -> None:
    queue.put([Task(id=f"t{number:03}", command="true", gpus=number % 2) for number in range(250)])
    queue.put([Task(id="urgent", command="true", gpus=1, priority=1)])
    _forget_lines(queue)
    queue.put([Task(id="new", command="true")])
    expected = [task for task in _list(queue) if task == "new" or (task != "urgent" and int(task[1:]) % 2 == 0)]
    assert [_take(queue) for _ in range(len(expected))] == expected
    assert _take(queue) is None
    assert _take(queue, gpus=1) == "urgent"


def test_what_rq_took_is_not_taken_and_what_rq_queued_again_is(queue: RedisQueue) -> None:
    queue.put([Task(id=f"t{number}", command="true") for number in range(40)])
    for number in range(30):  # as `rq worker` does it
        assert (
            RqQueue.dequeue_any([_rq(queue)], None, connection=queue.connection, serializer=JSONSerializer)[0].id
            == f"t{number}"
        )
    assert _take(queue) == "t30"
    failed = FailedJobRegistry(queue=_rq(queue))
    for task in ("t3", "t1"):
        job = Job.fetch(task, connection=queue.connection, serializer=JSONSerializer)
        failed.add(job, ttl=-1)
        failed.requeue(job)  # as `rq requeue` and rq-dashboard do it
    job = _rq(queue).enqueue("os.getpid", at_front=True)
    assert [_take(queue) for _ in range(12)] == [*(f"t{number}" for number in range(31, 40)), "t3", "t1", None]
    assert _list(queue) == [job.id]


def test_what_came_into_the_middle_unseen_is_taken_when_nothing_else_is_left(queue: RedisQueue) -> None:
    gpus = {"big": 8, "a": 0, "hidden": 0, "bigger": 8}
    queue.put([Task(id=task, command="true", gpus=count) for task, count in gpus.items()])
    _forget_lines(queue)
    queue.connection.lrem(queue.keys.waiting, 0, "hidden")
    assert _take(queue) == "a"
    queue.connection.linsert(queue.keys.waiting, "AFTER", "big", "hidden")  # as a worker of an older version does it
    assert (_take(queue), _take(queue)) == ("hidden", None)


def test_a_need_of_any_size_stays_as_it_was_written(queue: RedisQueue) -> None:
    queue.put([Task(id="a", command="true", mem=1 << 59)])
    assert queue.move(Place(QUEUED, "a"), Place(QUEUED, "a", 7))
    assert queue.connection.hget("paddock:q:tasks", "a") == f"7 0 0 {1 << 59} 0 0".encode()
    assert _take(queue) == "a"

"""Changes of a queue in a real Redis, and what RQ sees of them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from rq import Queue as RqQueue
from rq.job import Job
from rq.serializers import JSONSerializer

from paddock.errors import Damaged, Refused, Unreachable, UsageError
from paddock.queue.lifecycle import DONE, FAILED, PAUSED, QUEUED, Place, Token
from paddock.queue.order.orders import carry_out, find
from paddock.queue.redis.queue import RedisQueue
from paddock.queue.task import Attempt, Dependency, Task, read, render_attempt
from tests.redisserver import RedisServer


def _rq(queue: RedisQueue) -> RqQueue:
    return RqQueue(queue.name, connection=queue.connection, serializer=JSONSerializer)


def _take(queue: RedisQueue, worker: str = "w", *, slots: int = 1, gpus: int = 0) -> str | None:
    most = 1 << 60
    found = queue.change("take", worker, f"x{worker}", "", 0, slots, gpus, most, most, 4, gpus, most, most)
    return found[0].decode() if found else None


def _order(queue: RedisQueue, verb: str, task: str, priority: int | None = None) -> Place | None:
    at = find(queue, task)
    assert at is not None
    return carry_out(queue, verb, at, priority).after


def _states(queue: RedisQueue) -> dict[str, str]:
    return {place.id: place.state for place in queue.list().places}


def test_a_task_is_a_job_of_rq_with_a_limit_that_ends_nothing(queue: RedisQueue) -> None:
    queue.put([Task(id="a", command="echo 'é' \udcff", name="n"), Task(id="b", command="true", timeout=60.0)])
    job = Job.fetch("a", connection=queue.connection, serializer=JSONSerializer)
    assert job.func_name == "paddock.bridge.rq.run_task"
    assert (job.timeout, job.result_ttl, job.failure_ttl, job.get_status()) == (-1, -1, -1, "queued")
    assert read(job.args[0].encode("utf-8", "surrogateescape"), "a").task.command == "echo 'é' \udcff"
    assert Job.fetch("b", connection=queue.connection, serializer=JSONSerializer).timeout > 60
    assert _rq(queue).job_ids == ["a", "b"]
    assert queue.read(Place(QUEUED, "a")).task.command == "echo 'é' \udcff"
    assert queue.title(Place(QUEUED, "a")) == "n"


def test_the_same_id_again_is_the_same_task(queue: RedisQueue) -> None:
    for _ in range(2):
        queue.put([Task(id="a", command="true")])
    assert _rq(queue).job_ids == ["a"]


def test_what_is_taken_is_one_workers_alone_and_rq_shows_it_as_started(queue: RedisQueue) -> None:
    queue.put([Task(id="a", command="true")])
    assert (_take(queue, "w"), _take(queue, "v")) == ("a", None)
    assert [str(place.token) for place in queue.list().places] == ["w.1"]
    assert _rq(queue).started_job_registry.get_job_ids() == ["a"]  # which fails what it takes for abandoned: not ours
    assert not queue.finish("a", "v.1", DONE, b"", 1)
    assert queue.finish("a", "w.1", DONE, b"", 1)
    assert _states(queue) == {"a": DONE}
    assert _rq(queue).finished_job_registry.get_job_ids() == ["a"]
    assert Job.fetch("a", connection=queue.connection, serializer=JSONSerializer).return_value() == "done"
    assert queue.connection.keys("rq:execution:*") == []
    assert not queue.finish("a", "w.1", FAILED, b"", 1)


def test_a_failure_and_its_reason_are_rqs_too_and_a_retry_takes_it_back(queue: RedisQueue) -> None:
    queue.put([Task(id="a", command="false", priority=4)])
    _take(queue)
    data = queue.data("a")
    note = render_attempt(Attempt(number=1, outcome="failed", exit="exit code 3"), read(data, "a").fence)
    queue.finish("a", "w.1", FAILED, data + note, 1, why="exit code 3")
    job = Job.fetch("a", connection=queue.connection, serializer=JSONSerializer)
    assert (job.get_status(), job.latest_result().exc_string) == ("failed", "exit code 3")
    assert _order(queue, "retry", "a") == Place(QUEUED, "a", 4)
    assert _rq(queue).failed_job_registry.get_job_ids() == []
    _take(queue)
    assert [place.token for place in queue.list().places] == [Token("w", 2)]


def test_the_line_is_in_the_order_of_priorities_also_for_rq(queue: RedisQueue) -> None:
    queue.put(
        [Task(id=name, command="true", priority=priority) for name, priority in zip("abcd", (0, 5, 5, -1), strict=True)]
    )
    assert _rq(queue).job_ids == ["b", "c", "a", "d"]
    _order(queue, "priority", "d", 7)
    assert _rq(queue).job_ids == ["d", "b", "c", "a"]
    assert _take(queue) == "d"
    queue.finish("d", "w.1", "front", b"", 1)
    assert _rq(queue).job_ids == ["d", "b", "c", "a"]


def test_paused_tasks_are_out_of_the_line_and_a_held_one_stays_held(queue: RedisQueue) -> None:
    queue.put([Task(id="a", command="true"), Task(id="b", command="true")])
    _order(queue, "pause", "a")
    assert _rq(queue).job_ids == ["b"]
    assert _rq(queue).deferred_job_registry.get_job_ids() == ["a"]
    queue.tend()
    assert _take(queue) == "b"
    _order(queue, "pause", "b")
    assert [place for place in queue.list([PAUSED]).places if place.token] == [Place(PAUSED, "b", 0, Token("w", 1))]
    queue.finish("b", "w.1", "front", b"", 1)
    assert _states(queue) == {"a": PAUSED, "b": PAUSED}
    _order(queue, "resume", "a")
    assert _rq(queue).job_ids == ["a"]


def test_a_cancelled_task_is_gone_from_everywhere(queue: RedisQueue) -> None:
    queue.put([Task(id="a", command="true"), Task(id="b", command="true")])
    assert _order(queue, "cancel", "a") is None
    assert _take(queue) == "b"
    assert _order(queue, "cancel", "b") == Place(".cancelled", "b", 0, Token("w", 1))
    queue.finish("b", "w.1", "front", b"", 1)  # its worker gave it back before it saw that
    assert _states(queue) == {}
    assert sorted(queue.connection.keys("rq:*")) == [b"rq:queues"]


def test_those_that_wait_for_others_are_let_go_or_fail_with_a_reason(queue: RedisQueue) -> None:
    after = Dependency("a")
    queue.put([Task(id="a", command="true")])
    queue.put([Task(id="b", command="true", after=(after,)), Task(id="c", command="x", after=(Dependency("b"),))])
    assert _rq(queue).job_ids == ["a"]
    _take(queue)
    queue.finish("a", "w.1", DONE, b"", 1)
    queue.tend()
    assert _take(queue) == "b"
    queue.finish("b", "w.1", FAILED, b"", 1)
    queue.tend()
    assert _states(queue) == {"a": DONE, "b": FAILED, "c": FAILED}
    assert queue.read(Place(FAILED, "c")).attempts[-1].exit == "not run: b failed"


def test_a_look_at_those_that_wait_for_others_does_not_read_the_whole_queue(queue: RedisQueue) -> None:
    def heard(others: int) -> int:
        """Bytes that Redis said for one look."""
        queue.connection.flushdb()
        queue.put([Task(id="a", command="true"), Task(id="b", command="true", after=(Dependency("a"),))])
        queue.put([Task(id=f"t{number}", command="true") for number in range(others)])
        queue.tend()
        before = queue.connection.info("stats")["total_net_output_bytes"]
        queue.tend()
        return int(queue.connection.info("stats")["total_net_output_bytes"]) - before

    assert abs(heard(2000) - heard(10)) < 200  # which is in the numbers of the answer itself


def test_jobs_of_others_are_strangers_and_left_alone(queue: RedisQueue) -> None:
    theirs = _rq(queue).enqueue("time.sleep", 1)
    queue.put([Task(id="a", command="true")])
    listing = queue.list()
    assert ([place.id for place in listing.places], listing.strangers) == (["a"], [f"queued/{theirs.id}"])
    assert (_take(queue), _take(queue)) == ("a", None)
    assert _rq(queue).job_ids == [theirs.id]
    with pytest.raises(Damaged):
        queue.data(theirs.id)


def test_a_worker_takes_the_first_that_fits_it(queue: RedisQueue) -> None:
    queue.put([Task(id="big", command="true", gpus=2), Task(id="small", command="true")])
    assert _take(queue, gpus=1) == "small"
    assert _take(queue, gpus=2) == "big"


def test_a_worker_without_room_does_not_look_through_the_line(queue: RedisQueue) -> None:
    queue.put([Task(id=f"t{number:03}", command="true") for number in range(300)])

    def looks() -> int:
        return int(queue.connection.info("commandstats")["cmdstat_hget"]["calls"])

    before = looks()
    assert _take(queue, slots=0) is None
    assert looks() - before < 10
    queue.put([Task(id="checked", command="true", check="true")])
    assert _take(queue, slots=0) == "checked"  # for that there is always room
    assert queue.finish("checked", "w.1", "front", b"", 0)
    assert _take(queue, slots=0) == "checked"


def test_a_redis_that_is_full_before_all_are_in_has_none_of_them(queue: RedisQueue) -> None:
    used = int(queue.connection.info("memory")["used_memory"])
    queue.connection.config_set("maxmemory", used + 3_000_000)
    try:
        with pytest.raises(Refused, match=r"has no memory left.* Nothing was submitted\."):
            queue.put([Task(id=f"t{number}", command=os.urandom(2000).hex()) for number in range(2000)])
    finally:
        queue.connection.config_set("maxmemory", 0)
    assert _states(queue) == {} and _rq(queue).job_ids == []
    assert queue.connection.keys("rq:job:*") == []


def test_what_cannot_be_in_redis_is_refused(queue: RedisQueue) -> None:
    for task in (Task(id="a.b", command="true"), Task(id="a", command="true", workers=2)):
        with pytest.raises(UsageError):
            queue.put([task])
    assert _states(queue) == {}


def test_a_server_that_is_away_or_wants_a_password_is_a_sentence(tmp_path: Path) -> None:
    made = RedisServer(tmp_path / "locked", password="s3cret")
    try:
        with pytest.raises(Refused, match="does not let us in"):
            RedisQueue(made.url).list()
        with pytest.raises(Refused, match="does not let us in"):
            RedisQueue(made.url.replace("//", "//:wrong@")).list()
        os.environ["PADDOCK_REDIS_PASSWORD"] = "s3cret"
        assert RedisQueue(made.url).list().places == []
    finally:
        del os.environ["PADDOCK_REDIS_PASSWORD"]
        made.stop()
    with pytest.raises(Unreachable, match="There is no Redis"):
        RedisQueue(made.url).list()

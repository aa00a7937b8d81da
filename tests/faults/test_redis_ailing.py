"""A Redis that is there, and does not do its work: it has lost its memory, has none left, or takes no changes."""

from __future__ import annotations

import shutil
import time
from typing import Any

import pytest
import redis
from rq import Queue as RqQueue
from rq.serializers import JSONSerializer

from tests.conformance.backend import QUICK, RedisBackend

FENCE_SECONDS = float(QUICK["PADDOCK_LEASE_FENCE_SECONDS"])
WAITS = "echo begun >> begun; until test -f go; do sleep 0.05; done; echo out"


@pytest.fixture
def running(backend: RedisBackend) -> str:
    """A task that a worker runs, and goes on running for long when Redis takes no beats: a busy machine needs its time
    for what is done to Redis meanwhile."""
    backend.program.environment.update(PADDOCK_LEASE_FENCE_SECONDS="600", PADDOCK_LEASE_RECLAIM_SECONDS="1200")
    return _begin(backend)


def _begin(backend: RedisBackend) -> str:
    task = backend.submit(WAITS)
    backend.start_worker()
    backend.until((backend.program.cwd / "begun").exists)
    return task


def _let_it_end(backend: RedisBackend, task: str) -> None:
    """Its only attempt, all of which was noted."""
    (backend.program.cwd / "go").touch()
    assert backend.wait(task) == {task: "done"}
    assert [attempt.outcome for attempt in backend.attempts(task)] == ["done"]
    assert (backend.program.cwd / "begun").read_text() == "begun\n"
    assert backend.output(task) == "out\n"


def _admin(backend: RedisBackend) -> Any:
    return redis.Redis(port=backend.server.port)


def _until_told(backend: RedisBackend) -> None:
    """A Redis without memory has no such queue."""
    backend.until(lambda: _admin(backend).exists("paddock:conformance:here"))


def _said(backend: RedisBackend) -> str:
    return (backend.home.path.parent / "workers.log").read_text()


def test_what_runs_goes_on_when_redis_comes_back_with_nothing(backend: RedisBackend, running: str) -> None:
    """What waited there is lost with its memory, and can be submitted again."""
    backend.server.kill()
    shutil.rmtree(backend.server.directory / "appendonlydir")
    backend.server.start()
    _until_told(backend)
    assert backend.state(running) == "active"
    rq = RqQueue("conformance", connection=_admin(backend), serializer=JSONSerializer)
    assert rq.started_job_registry.get_job_ids() == [running]
    after = backend.submit("echo after", "--after", running)
    _let_it_end(backend, running)
    assert backend.wait(after) == {after: "done"}
    assert "lost its memory" in _said(backend)


def test_a_task_that_ends_as_redis_forgets_it_is_done_there(backend: RedisBackend, running: str) -> None:
    """Nobody had time to tell it anew."""
    _admin(backend).flushall()
    (backend.program.cwd / "go").touch()
    _until_told(backend)
    _let_it_end(backend, running)
    rq = RqQueue("conformance", connection=_admin(backend), serializer=JSONSerializer)
    assert rq.finished_job_registry.get_job_ids() == [running]
    job = rq.fetch_job(running)
    assert job is not None and job.func_name == "paddock.bridge.rq.run_task"


def test_a_task_that_was_removed_is_not_told_anew(backend: RedisBackend, running: str) -> None:
    backend.order("cancel", running)
    backend.until(lambda: backend.state(running) == "gone")
    time.sleep(2 * float(QUICK["PADDOCK_LEASE_BEAT_SECONDS"]))
    assert backend.state(running) == "gone" and "lost its memory" not in _said(backend)


def test_what_runs_goes_on_and_ends_where_redis_has_no_memory_left(backend: RedisBackend) -> None:
    """And can be cancelled; only new tasks are refused."""
    running = _begin(backend)
    second = backend.submit("sleep 600")
    backend.start_worker()
    backend.until(lambda: backend.state(second) == "active")
    _admin(backend).config_set("maxmemory", "1mb")
    refused = backend.program("submit", "-Q", backend.url, "--no-snapshot", "--", "true")
    assert refused.code == 9 and "has no memory left" in refused.err
    time.sleep(1.5 * FENCE_SECONDS)  # whose beats Redis does not take is ended by then
    assert backend.states([running, second]) == {running: "active", second: "active"}
    backend.order("cancel", second)
    backend.until(lambda: backend.state(second) == "gone")
    _let_it_end(backend, running)
    assert backend.program("clean", "-Q", backend.url, "--older-than", "0", "--yes").code == 0  # as the hint says
    assert backend.states([running]) == {running: "gone"}


def test_what_runs_goes_on_when_redis_takes_changes_again(backend: RedisBackend, running: str) -> None:
    """It is a replica for a while, as after a failover that was taken back."""
    _admin(backend).replicaof("127.0.0.1", 1)
    backend.until(lambda: "is a replica, and takes no changes" in _said(backend))
    refused = backend.program("submit", "-Q", backend.url, "--no-snapshot", "--", "true")
    assert refused.code == 9 and "Name the primary" in refused.err
    _admin(backend).replicaof("no", "one")
    backend.until(lambda: "answers again" in _said(backend))
    _let_it_end(backend, running)

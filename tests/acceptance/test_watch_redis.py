"""Evaluations in a queue of RQ, as assayer has them."""

from __future__ import annotations

import subprocess
import sys
import time
from typing import Any

import pytest
from rq import Queue as RqQueue
from rq.serializers import JSONSerializer

from paddock.queue.redis.queue import RedisQueue
from tests.acceptance.watched import has_begun, prepare, save, until_states, watching
from tests.redisserver import RedisServer
from tests.waiting import until

FORMS = {
    "url": ("--queue", "redis://127.0.0.1:{port}/0?queue=evaluation"),
    "as assayer has it": ("--redis_host", "127.0.0.1", "--redis_port", "{port}"),
    "with hyphens": ("--redis-host", "127.0.0.1", "--redis-port", "{port}", "--eval-queue-name", "evaluation"),
}


@pytest.mark.parametrize("form", FORMS)
def test_checkpoints_are_evaluated_by_jobs_of_rq(program: Any, redis_server: RedisServer, form: str) -> None:
    out = prepare(program)
    script = "import paddock\npaddock.init(name='t', config={'out': 'out'}).log({'loss': 1})\n"
    (program.cwd / "train.py").write_text(script)
    assert program("run", "train.py").code == 0
    words = ("--evaluator", "metrics.py:acc", *(word.format(port=redis_server.port) for word in FORMS[form]))
    queue = RedisQueue(f"{redis_server.url}?queue=evaluation")
    with watching(program, "out", *words, "--num_eval_workers", "1"):
        for step in (100, 300, 200):
            save(out / f"step={step}.pt", step // 100)
        until_states(program, "done", "done", "done")
        assert program("series", "t", "eval/acc/acc").out.split()[2::2] == ["100", "200", "300"]
        until(lambda: [place.state for place in queue.list().places] == ["done"] * 3)  # a task ends after its result
    assert queue.connection.zcard("rq:finished:evaluation") == 3
    assert queue.crew() == []  # its worker has ended with it


def test_checkpoints_that_come_while_redis_is_away_are_evaluated_when_it_is_back(
    program: Any, redis_server: RedisServer
) -> None:
    out = prepare(program)
    words = ("--evaluator", "metrics.py:acc", "--queue", f"{redis_server.url}?queue=evaluation")
    with watching(program, "out", *words, "--num_eval_workers", "1") as watch:
        save(out / "step=1.pt")
        until_states(program, "done")
        redis_server.stop()
        save(out / "step=2.pt")
        time.sleep(2)  # several looks
        assert watch.poll() is None
        redis_server.start()
        until_states(program, "done", "done")


def test_shutdown_takes_back_what_it_queued_and_stops_its_workers_and_nobody_elses(
    program: Any, redis_server: RedisServer
) -> None:
    """A worker of the watch, for two at once, and one of somebody else are on the queue; rq's own tools show it all."""
    out = prepare(program)
    url = f"{redis_server.url}?queue=evaluation"
    queue = RedisQueue(url)
    stranger = program("submit", "-q", "--no-snapshot", "-Q", url, "--gpus", "9", "--", "true").out.strip()
    job = RqQueue("evaluation", connection=queue.connection, serializer=JSONSerializer).enqueue("os.getpid")
    other = program.start("worker", url, env={"PADDOCK_HOME": str(program.cwd / "elsewhere")})
    words = ("--evaluator", "metrics.py:slow", "--redis_host", "127.0.0.1", "--redis_port", str(redis_server.port))
    watch = program.start("watch", "out", *words, "--num_eval_workers", "2", "--polling-interval", "0.2")
    try:
        until(lambda: len(queue.crew()) == 2 and has_begun(program, watch.pid))
        for step in range(5):
            save(out / f"step={step}.pt")
        until(lambda: _count(queue, "active") == 3 and _count(queue, "queued") == 3)
        shown = subprocess.run(
            [sys.executable, "-m", "rq.cli", "info", "--url", redis_server.url],
            capture_output=True,
            text=True,
            timeout=60,
        ).stdout
        assert "3 executing" in shown and "2 workers, 1 queues" in shown, shown
        found = program("shutdown", "--yes", "--force", "--json")
        assert found.code == 0, found.err
        until(lambda: watch.poll() is not None)
        until(lambda: [worker.pid for worker, _, _ in queue.crew()] == [other.pid])
        left = {place.id: place.state for place in queue.list().places}
        assert left.pop(stranger) == "queued"  # it was not ours to take back
        assert queue.connection.lpos("rq:queue:evaluation", job.id) is not None
        assert set(left.values()) <= {"active"} and len(left) == 1, left  # what the other's worker has, it keeps
        (program.cwd / "go").touch()
        until(lambda: _count(queue, "done") == 1)
        assert other.poll() is None
    finally:
        for process in (watch, other):
            process.terminate()
            process.communicate(timeout=60)


def _count(queue: RedisQueue, state: str) -> int:
    return len(queue.list([state]).places)

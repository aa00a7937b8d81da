"""RQ's own tools on our tasks: rq-dashboard, `rq info`, `rq worker` and `rq requeue`, all of them the real ones."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from paddock.queue.redis.queue import RedisQueue
from paddock.queue.show.view import tasks
from paddock.record.layout import Home
from tests.redisserver import RedisServer, free_port
from tests.waiting import until

WAITS = "until test -f go; do sleep 0.05; done"


class Dashboard:
    """`rq-dashboard --json`, as docs/how-to/redis.md has it."""

    def __init__(self, redis: RedisServer) -> None:
        self.base = f"http://127.0.0.1:{free_port()}"
        port = self.base.rpartition(":")[2]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "rq_dashboard", "--json", "-b", "127.0.0.1", "-p", port, "-u", redis.url],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        until(self._answers, 60)

    def _answers(self) -> bool:
        assert self.process.poll() is None
        try:
            return bool(self.ask("/"))
        except urllib.error.URLError:
            return False

    def ask(self, path: str, method: str = "GET") -> str:
        with urllib.request.urlopen(urllib.request.Request(f"{self.base}{path}", method=method), timeout=30) as answer:
            return str(answer.read().decode())

    def get(self, what: str) -> Any:
        return json.loads(self.ask(f"/0/data/{what}.json"))

    def counts(self, queue: str) -> dict[str, int]:
        (found,) = (one for one in self.get("queues")["queues"] if one["name"] == queue)
        names = ("started", "deferred", "finished", "failed")
        return {"queued": found["count"]} | {name: found[f"{name}_job_registry_count"] for name in names}

    def jobs(self, queue: str, registry: str) -> dict[str, str]:
        found = self.get(f"jobs/{queue}/{registry}/8/asc/1")["jobs"]
        return {job["id"]: job["description"] for job in found}

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(30)


@pytest.fixture
def dashboard(redis_server: RedisServer) -> Iterator[Dashboard]:
    made = Dashboard(redis_server)
    try:
        yield made
    finally:
        made.stop()


def _submit(program: Any, url: str, *words: str) -> str:
    found = program("submit", "-q", "--no-snapshot", "-Q", url, *words)
    assert found.code == 0, found.err
    return str(found.out.strip())


def _rq(program: Any, redis: RedisServer, *words: str) -> str:
    started = _start_rq(program, redis, *words)
    out, err = started.communicate(timeout=120)
    assert started.returncode == 0, err
    return out


def _start_rq(program: Any, redis: RedisServer, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "rq.cli", words[0], "--url", redis.url, *words[1:]],
        env=program.environment,
        cwd=program.cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_the_dashboard_and_rq_info_show_tasks_wherever_they_are(
    program: Any, redis_server: RedisServer, dashboard: Dashboard
) -> None:
    url = f"{redis_server.url}?queue=q"
    first = _submit(program, url, "--name", "train 'é' <b>", "--", WAITS)
    bad = _submit(program, url, "--", "echo why; exit 3")
    child = _submit(program, url, "--after", first, "--", "true")
    assert dashboard.counts("q") == {"queued": 2, "started": 0, "deferred": 1, "finished": 0, "failed": 0}
    assert dashboard.jobs("q", "queued") == {first: "train 'é' <b>", bad: "echo why; exit 3"}
    assert dashboard.get(f"job/{first}")["status"] == "queued"
    assert " 2, 0 executing, 0 finished, 0 failed" in _rq(program, redis_server, "info")
    worker = program.start("worker", url)
    try:
        until(lambda: dashboard.jobs("q", "started") == {first: "train 'é' <b>"}, 60)
        assert dashboard.get(f"job/{first}")["status"] == "started"
        until(lambda: [one["state"] for one in dashboard.get("workers")["workers"]] == ["busy"], 60)
        (shown,) = dashboard.get("workers")["workers"]
        assert (shown["pid"], shown["queues"]) == (worker.pid, ["q"])
        assert "1 workers, 1 queues" in _rq(program, redis_server, "info")
        (program.cwd / "go").touch()
        until(lambda: dashboard.counts("q")["finished"] == 2 and dashboard.counts("q")["failed"] == 1, 60)
        assert dashboard.counts("q") == {"queued": 0, "started": 0, "deferred": 0, "finished": 2, "failed": 1}
        assert set(dashboard.jobs("q", "finished")) == {first, child}
        done, failed = dashboard.get(f"job/{first}"), dashboard.get(f"job/{bad}")
        assert (done["status"], done["result"], done["origin"]) == ("finished", "done", "q")
        assert (failed["status"], failed["description"]) == ("failed", "echo why; exit 3")
        assert "exit code 3" in failed["exc_info"] and "why" in failed["exc_info"]
        assert all(one[moment] for one in (done, failed) for moment in ("created_at", "started_at", "ended_at"))
        assert bad in dashboard.ask(f"/0/view/job/{bad}") and "q" in dashboard.ask("/0/view/queues")
        assert " 0, 0 executing, 2 finished, 1 failed" in _rq(program, redis_server, "info")
    finally:
        worker.terminate()
        worker.communicate(timeout=60)


def test_what_is_queued_again_by_rqs_tools_runs_again_and_what_they_delete_does_not(
    program: Any, home: Home, redis_server: RedisServer, dashboard: Dashboard
) -> None:
    url = f"{redis_server.url}?queue=q"
    one, two, gone = (_submit(program, url, "--", "test -f fixed") for _ in range(3))
    assert json.loads(dashboard.ask(f"/job/{gone}/delete", "POST")) == {"status": "OK"}
    assert program("worker", "--no-persist", url).code == 0
    assert _states(home, url) == {one: "failed", two: "failed"}
    (program.cwd / "fixed").touch()
    assert json.loads(dashboard.ask(f"/job/{one}/requeue", "POST")) == {"status": "OK"}
    _rq(program, redis_server, "requeue", "--queue", "q", "--serializer", "rq.serializers.JSONSerializer", two)
    assert _states(home, url) == {one: "queued", two: "queued"}
    assert program("worker", "--no-persist", url).code == 0
    assert _states(home, url) == {one: "done", two: "done"}
    for task in (one, two):
        (entry,) = (entry for entry in tasks(url, home=home) if entry.id == task)
        assert entry.file is not None and [attempt.outcome for attempt in entry.file.attempts] == ["failed", "done"]


def test_a_plain_worker_and_ours_share_a_queue(
    program: Any, home: Home, redis_server: RedisServer, dashboard: Dashboard
) -> None:
    """Each task runs once, whoever takes it, and the dashboard shows the same of both."""
    url = f"{redis_server.url}?queue=q"
    command = f"{WAITS}; echo {{n}} >> ran"
    ids = _submit(program, url, "--grid", "n=1..12", "--", command).split()
    ours = program.start("worker", url)
    theirs = _start_rq(program, redis_server, "worker", "--burst", "--serializer", "json", "q")
    try:
        until(lambda: dashboard.counts("q")["started"] == 2, 60)
        (program.cwd / "go").touch()
        until(lambda: dashboard.counts("q")["finished"] == 12, 60)
        assert sorted(map(int, (program.cwd / "ran").read_text().split())) == list(range(1, 13))
        assert _states(home, url) == dict.fromkeys(ids, "done")
        found = [dashboard.get(f"job/{task}") for task in ids]
        assert {(one["status"], one["result"]) for one in found} == {("finished", "done")}
        assert len(list((home.path / "runs").glob("*/output/1.log"))) == 12
        until(lambda: RedisQueue(url).connection.hlen("paddock:q:placed") == 0, 60)  # what RQ took has no place left
    finally:
        for worker in (ours, theirs):
            worker.terminate()
            worker.communicate(timeout=60)


def _states(home: Home, url: str) -> dict[str, str]:
    return {entry.id: entry.state for entry in tasks(url, home=home)}

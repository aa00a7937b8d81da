"""A queue in Redis whose server, workers and results go away at bad moments."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil

from tests.conformance.backend import RedisBackend
from tests.waiting import written


def test_a_task_is_ended_when_redis_is_away_for_too_long_and_runs_again(backend: RedisBackend) -> None:
    """Before anybody else could take it: the fence is 6 s, the reclaim 10 s."""
    task = backend.submit("echo $$ >> pids; test $(wc -l < pids) -ge 2 || sleep 600")
    backend.start_worker()
    pid = backend.until(lambda: written(backend.program.cwd / "pids")).strip()
    at = time.monotonic()
    backend.server.stop()
    backend.until(lambda: not Path(f"/proc/{pid}").exists())
    assert 4 < time.monotonic() - at < 10
    backend.server.start()
    assert backend.wait(task) == {task: "done"}
    assert [attempt.outcome for attempt in backend.attempts(task)] == ["fenced", "done"]


def test_a_short_absence_of_redis_costs_nothing(backend: RedisBackend) -> None:
    task = backend.submit("echo begun >> begun; sleep 3; echo out")
    backend.start_worker()
    backend.until((backend.program.cwd / "begun").exists)
    backend.server.stop()
    time.sleep(1)
    backend.server.start()
    assert backend.wait(task) == {task: "done"}
    assert backend.output(task) == "out\n"
    assert len(backend.attempts(task)) == 1


def test_no_task_is_lost_and_none_runs_twice_at_once_while_workers_are_killed(
    backend: RedisBackend, long: bool
) -> None:
    count, dice = (300 if long else 40), random.Random(4)
    ids = _submit_many(backend, count)
    workers = [backend.start_worker("--slots", "2") for _ in range(2)]
    kills = 0
    while any(state in ("queued", "active") for state in backend.states(ids).values()):
        time.sleep(dice.uniform(0.5, 3.0))
        if kills < (40 if long else 6):
            number, kills = dice.randrange(2), kills + 1
            workers[number].send_signal(signal.SIGKILL if dice.random() < 0.75 else signal.SIGTERM)
            workers[number].wait(60)
            workers[number] = backend.start_worker("--slots", "2")
    _check_all_ran(backend, ids)


def test_no_task_is_lost_and_none_runs_twice_at_once_while_redis_itself_is_killed(
    backend: RedisBackend, long: bool
) -> None:
    """It has `appendonly`, so what it acknowledged is there when it is started again."""
    count, dice = (500 if long else 40), random.Random(5)
    ids = _submit_many(backend, count)
    for _ in range(2):
        backend.start_worker("--slots", "2")
    kills = 0
    while any(state in ("queued", "active") for state in backend.states(ids).values()):
        time.sleep(dice.uniform(0.5, 3.0))
        if kills < (25 if long else 5):
            kills += 1
            backend.server.kill()
            time.sleep(dice.choice([0.0, 0.5, 2.0]))
            backend.server.start()
    _check_all_ran(backend, ids)


def _submit_many(backend: RedisBackend, count: int) -> list[str]:
    """Each notes that it ends, and when it finds another of its kind at work."""
    script = backend.program.cwd / "task.sh"
    script.write_text("exec 9> lock.$1; flock -n 9 || echo $1 >> twice\nsleep 0.$(( $1 % 4 ))\necho $1 >> finished\n")
    return backend.grid("n", count, f"sh {script} {{n}}")


def _check_all_ran(backend: RedisBackend, ids: list[str]) -> None:
    work = backend.program.cwd
    assert set(backend.states(ids).values()) == {"done"}
    assert set((work / "finished").read_text().split()) == set(map(str, range(len(ids))))
    assert not (work / "twice").exists()
    connection = _queue(backend).connection
    assert connection.zcard("rq:wip:conformance") == connection.llen("rq:queue:conformance") == 0
    assert connection.keys("rq:execution:*") == []


def _queue(backend: RedisBackend) -> Any:
    from paddock.queue.redis.queue import RedisQueue

    return RedisQueue(backend.url)


def test_a_task_that_kills_its_workers_is_given_up(backend: RedisBackend) -> None:
    task = backend.submit("kill -9 $(ps -o ppid= -p $PPID); sleep 60")
    for _ in range(5):
        worker = backend.start_worker()
        assert worker.wait(60) != 0
    backend.start_worker()
    assert backend.wait(task) == {task: "failed"}
    assert [attempt.outcome for attempt in backend.attempts(task)] == ["lost"] * 5


def test_a_plain_worker_of_rq_runs_tasks_with_output_and_record(backend: RedisBackend) -> None:
    good, bad = backend.submit("echo out"), backend.submit("echo bad; exit 4")
    child = backend.submit("echo child", "--after", good)
    for _ in range(2):
        _rq(backend)
        assert backend.program("status", "-Q", backend.url).code == 0  # which lets go on what waited
    assert backend.states([good, bad, child]) == {good: "done", bad: "failed", child: "done"}
    assert (backend.output(good), backend.output(child)) == ("out\n", "child\n")
    assert backend.attempts(bad)[-1].exit == "exit code 4"
    backend.order("retry", bad)
    backend.start_worker()
    backend.until(lambda: len(backend.attempts(bad)) == 2)


def _rq(backend: RedisBackend) -> None:
    done = subprocess.run(_rq_words(backend), env=backend.program.environment, capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr


def _rq_words(backend: RedisBackend) -> list[str]:
    words = [sys.executable, "-m", "rq.cli", "worker", "--burst", "--url", backend.server.url]
    return [*words, "--serializer", "rq.serializers.JSONSerializer", "conformance"]


def test_what_a_killed_worker_of_rq_had_fails_and_can_be_tried_again(backend: RedisBackend) -> None:
    """Without a worker of RQ that would see to it. That RQ's 90 seconds have gone by is said to Redis."""
    task = backend.submit("touch begun; test -f go || sleep 600")
    with subprocess.Popen(
        _rq_words(backend),
        env=backend.program.environment,
        cwd=backend.program.cwd,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as plain:
        backend.until((backend.program.cwd / "begun").exists)
        (child,) = psutil.Process(plain.pid).children()
        plain.kill()
        child.kill()
    connection = _queue(backend).connection
    ((entry, _),) = connection.zrange("rq:wip:conformance", 0, -1, withscores=True)
    backend.start_worker()
    other = backend.submit("true")
    assert backend.wait(other) == {other: "done"}
    assert backend.state(task) == "active"  # nobody knows yet
    connection.zadd("rq:wip:conformance", {entry: 1})
    assert backend.wait(task) == {task: "failed"}
    assert [attempt.outcome for attempt in backend.attempts(task)] == ["lost"]
    (backend.program.cwd / "go").touch()
    backend.order("retry", task)
    assert backend.wait(task) == {task: "done"}
    assert [attempt.outcome for attempt in backend.attempts(task)] == ["lost", "done"]


def test_what_a_worker_of_rq_took_and_did_not_begin_goes_back(backend: RedisBackend) -> None:
    """It died between its first two words to Redis; jobs of others are left where they are."""
    task, connection = backend.submit("echo out"), _queue(backend).connection
    waiting, between = "rq:queue:conformance", "rq:queue:conformance:intermediate"
    connection.rpush(between, "another's")
    assert connection.lmove(waiting, between, "LEFT", "RIGHT") == task.encode()
    backend.start_worker()
    assert backend.wait(task) == {task: "done"}
    assert [attempt.outcome for attempt in backend.attempts(task)] == ["done"]
    assert connection.lrange(between, 0, -1) == [b"another's"]


def test_code_travels_to_a_worker_that_does_not_see_the_home(backend: RedisBackend, tmp_path: Path) -> None:
    """Through a store; without one the task waits, and says for what."""
    project, store = tmp_path / "project", tmp_path / "store"
    project.mkdir()
    (project / "train.py").write_text("print('trained')\n")
    for words in (["git", "init", "-q"], ["git", "add", "."]):
        subprocess.run(words, cwd=project, check=True)
    words = ("submit", "-q", "-Q", backend.url, "--cwd", str(project), "--", sys.executable, "train.py")
    alone = backend.program(*words).out.strip()
    sent = backend.program(*words, env={"PADDOCK_CODE_STORE": f"file://{store}"}).out.strip()
    assert list((store / "code").glob("*.json"))
    (project / "train.py").unlink()
    backend.program.environment |= {"PADDOCK_HOME": str(tmp_path / "elsewhere")}
    worker = backend.start_worker()
    backend.until(lambda: "cannot be restored" in backend.program("status", "-Q", backend.url).out)
    assert not {"done", "failed"} & set(backend.states([alone, sent]).values())
    backend.stop_worker(worker)
    backend.program.environment |= {"PADDOCK_CODE_STORE": f"file://{store}"}
    backend.start_worker()
    assert backend.wait(alone, sent) == {alone: "done", sent: "done"}
    assert (tmp_path / "elsewhere" / "runs" / sent / "output" / "1.log").read_text() == "trained\n"


def test_a_task_whose_answer_was_lost_on_the_way_to_its_worker_runs_all_the_same(backend: RedisBackend) -> None:
    """Redis gave it to a worker that never heard of it, because the line broke at that moment."""
    busy = backend.submit("until test -f go; do sleep 0.1; done")
    backend.start_worker()
    backend.until(lambda: backend.state(busy) == "active")
    task, queue = backend.submit("echo out"), _queue(backend)
    ((worker, _, _),) = queue.crew()
    most = 1 << 60
    found = queue.change("take", worker.worker, "0" * 32, "", 0, 1, 0, most, most, 0, 0, most, most)
    assert found[0].decode() == task and backend.state(task) == "active"
    backend.until(lambda: backend.state(task) == "queued")
    (backend.program.cwd / "go").touch()
    assert backend.wait(task) == {task: "done"}
    assert [attempt.outcome for attempt in backend.attempts(task)] == ["done"]

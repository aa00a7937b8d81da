"""What is true of every queue, whoever runs its tasks."""

from __future__ import annotations

import os
import re
import time

import pytest

from tests.conformance.backend import LOST, PAUSE, PRIORITY, REQUEUE, Backend
from tests.waiting import written

pytestmark = pytest.mark.usefixtures("needs")

ODD = 'it\'s "$HOME" `date` \\n ${x} %s {y} ; & | > < * ? ~ ! # é 漢 \t end'

COUNT = int(os.environ.get("PADDOCK_TEST_TASKS", "1000"))  # now: each test has an environment of its own


def test_a_task_runs_and_its_output_and_exit_code_are_kept(backend: Backend) -> None:
    good = backend.submit("echo out; echo err >&2")
    bad = backend.submit("echo before; exit 3")
    assert backend.state(good) in ("queued", "active", "done")
    backend.start_worker()
    assert backend.wait(good, bad) == {good: "done", bad: "failed"}
    assert backend.output(good) == "out\nerr\n"
    assert backend.output(bad) == "before\n"
    (attempt,) = backend.attempts(bad)
    assert (attempt.number, attempt.outcome, attempt.exit) == (1, "failed", "exit code 3")
    assert backend.attempts(good)[0].exit == "exit code 0"
    runs = {run["id"]: run["state"] for run in backend.program("ls", "--json").json["runs"]}
    assert (runs[good], runs[bad]) == ("finished", "failed")


def test_wait_says_how_it_ended_by_its_exit_code(backend: Backend) -> None:
    good, bad = backend.submit("true"), backend.submit("false")
    backend.start_worker()
    assert backend.program("wait", "-Q", backend.url, good).code == 0
    assert backend.program("wait", "-Q", backend.url, bad).code == 10


def test_odd_strings_survive(backend: Backend) -> None:
    path = backend.program.cwd / "odd"
    task = backend.submit(f"cat <<'EOF' > {path}\n{ODD}\n==== command\n---\nEOF\nprintenv ODD", "--env", f"ODD={ODD}")
    raw = backend.submit(os.fsdecode(b"printf '\xff'"), "--name", "na'me \N{SNOWMAN}")
    backend.start_worker()
    assert backend.wait(task, raw) == {task: "done", raw: "done"}
    assert path.read_text() == f"{ODD}\n==== command\n---\n"
    assert backend.output(task) == f"{ODD}\n"
    assert backend.output(raw).encode(errors="surrogateescape") == b"\xff"
    assert backend.look()[raw].name == "na'me \N{SNOWMAN}"


def test_a_task_waits_for_its_check(backend: Backend) -> None:
    ready = backend.program.cwd / "ready"
    task = backend.submit("echo ran", "--chk", f"test -f {ready}")
    other = backend.submit("echo first")
    backend.start_worker()
    assert backend.wait(other) == {other: "done"}  # it is not held up by the one that waits
    assert backend.state(task) in ("queued", "checking")
    ready.touch()
    assert backend.wait(task) == {task: "done"}


def test_a_task_waits_for_another_and_fails_with_it(backend: Backend) -> None:
    first = backend.submit("sleep 1; echo one >> order")
    second = backend.submit("echo two >> order", "--after", first)
    bad = backend.submit("exit 1")
    never = backend.submit("echo never >> order", "--after", bad)
    anyway = backend.submit("echo three >> order", "--after", f"any:{bad}", "--after", second)
    backend.start_worker("--slots", "4")
    assert backend.wait(first, second, bad, never, anyway) == {
        first: "done",
        second: "done",
        bad: "failed",
        never: "failed",
        anyway: "done",
    }
    assert (backend.program.cwd / "order").read_text().split() == ["one", "two", "three"]
    assert bad in backend.attempts(never)[-1].exit


def test_a_failed_task_is_tried_again_as_often_as_it_may(backend: Backend) -> None:
    counter = backend.program.cwd / "tries"
    task = backend.submit(f"echo x >> {counter}; test $(wc -l < {counter}) -ge 3", "--retries", "5")
    backend.start_worker()
    assert backend.wait(task) == {task: "done"}
    assert [attempt.outcome for attempt in backend.attempts(task)] == ["failed", "failed", "done"]


def test_a_task_that_takes_too_long_is_ended(backend: Backend) -> None:
    task = backend.submit("sleep 600", "--timeout", "1s")
    backend.start_worker()
    assert backend.wait(task) == {task: "failed"}
    assert backend.attempts(task)[-1].outcome == "timed out"


def test_retry_and_rerun_run_it_again(backend: Backend) -> None:
    flag = backend.program.cwd / "flag"
    task = backend.submit(f"test -f {flag}")
    backend.start_worker()
    assert backend.wait(task) == {task: "failed"}
    flag.touch()
    backend.order("retry", task)
    assert backend.wait(task) == {task: "done"}
    backend.order("rerun", task)
    backend.until(lambda: len(backend.attempts(task)) == 3 and backend.state(task) == "done")
    backend.order("retry", task, code=9)


def test_cancel_ends_what_runs_and_removes_what_waits(backend: Backend) -> None:
    running = backend.submit("echo $$ > pid; sleep 600 & sleep 600")
    backend.start_worker()
    backend.until(lambda: backend.state(running) == "active" and written(backend.program.cwd / "pid"))
    waiting = backend.submit("echo never > never")
    backend.order("cancel", waiting, running)
    assert backend.states([running, waiting]) == {running: "gone", waiting: "gone"}
    pid = (backend.program.cwd / "pid").read_text().strip()
    assert not backend.lives(pid)
    last = backend.submit("true")
    assert backend.wait(last) == {last: "done"}
    assert not (backend.program.cwd / "never").exists()


@pytest.mark.needs(PAUSE)
def test_pause_stops_a_running_task_and_resume_lets_it_go_on(backend: Backend) -> None:
    ticks, enough = backend.program.cwd / "ticks", backend.program.cwd / "enough"
    task = backend.submit(f"i=0; until test -e {enough}; do i=$((i + 1)); echo $i >> {ticks}; sleep 0.1; done")
    backend.start_worker()
    backend.until(ticks.exists)
    backend.order("pause", task)
    assert backend.state(task) == "paused"
    backend.until(lambda: _is_still(ticks))
    before = ticks.read_text()
    backend.order("resume", task)
    backend.until(lambda: ticks.read_text() != before)
    enough.touch()
    assert backend.wait(task) == {task: "done"}
    numbers = ticks.read_text().split()
    assert numbers == [str(number) for number in range(1, len(numbers) + 1)]  # once, and from where it was
    assert len(backend.attempts(task)) == 1


def _is_still(path: os.PathLike[str]) -> bool:
    before = os.stat(path).st_size
    time.sleep(0.5)
    return os.stat(path).st_size == before


@pytest.mark.needs(PAUSE)
def test_a_paused_task_is_not_taken(backend: Backend) -> None:
    ready = backend.program.cwd / "ready"
    held = backend.submit("true", "--chk", f"test -e {ready}")  # an engine may begin it before it is paused
    other = backend.submit("true")
    backend.order("pause", held)
    ready.touch()
    backend.start_worker()
    assert backend.wait(other) == {other: "done"}
    assert backend.state(held) == "paused"
    backend.order("resume", held)
    assert backend.wait(held) == {held: "done"}


@pytest.mark.needs(PRIORITY)
def test_higher_priority_goes_first(backend: Backend) -> None:
    low, high, raised = (
        backend.submit("echo low >> order"),
        backend.submit("echo high >> order", "--priority", "5"),
        backend.submit("echo raised >> order"),
    )
    backend.order("priority", "9", raised)
    backend.start_worker()
    backend.wait(low, high, raised)
    assert (backend.program.cwd / "order").read_text().split() == ["raised", "high", "low"]


@pytest.mark.needs(LOST)
def test_the_task_of_a_worker_that_was_killed_runs_again(backend: Backend) -> None:
    task = backend.submit("echo begun >> begun; test $(wc -l < begun) -ge 2 || sleep 600")
    begun = backend.program.cwd / "begun"
    worker = backend.start_worker()
    backend.until(lambda: written(begun))
    backend.kill_worker(worker)
    backend.start_worker()
    assert backend.wait(task) == {task: "done"}
    outcomes = [attempt.outcome for attempt in backend.attempts(task)]
    assert outcomes in (["lost", "done"], ["requeued", "done"])


@pytest.mark.needs(REQUEUE)
def test_a_worker_that_has_to_go_gives_its_task_back(backend: Backend) -> None:
    task = backend.submit("echo begun >> begun; test $(wc -l < begun) -ge 2 || sleep 600")
    worker = backend.start_worker()
    backend.until(lambda: written(backend.program.cwd / "begun"))
    backend.stop_worker(worker)
    assert backend.state(task) == "queued"
    assert [attempt.outcome for attempt in backend.attempts(task)] == ["requeued"]
    backend.start_worker()
    assert backend.wait(task) == {task: "done"}


def test_many_tasks_each_run_once(backend: Backend) -> None:
    count = COUNT
    ids = backend.grid("n", count, "echo {n} >> all")
    assert len(set(ids)) == count
    backend.start_worker("--slots", "2")
    assert set(backend.wait(*ids, seconds=backend.patience + count).values()) == {"done"}
    lines = (backend.program.cwd / "all").read_text().split()
    assert sorted(map(int, lines)) == list(range(count))


def test_status_names_what_runs_and_what_waits(backend: Backend) -> None:
    first = backend.submit("sleep 600")
    backend.start_worker()
    backend.until(lambda: backend.state(first) == "active")
    second = backend.submit("true")
    found = backend.program("status", "-Q", backend.url, "--json")
    (one,) = found.json["queues"]
    assert (one["counts"]["active"], one["counts"]["queued"]) == (1, 1)
    assert [task["id"] for task in one["running"]] == [first]
    assert [(task["id"], bool(task["why"])) for task in one["waiting"]] == [(second, True)]
    assert re.search(r"\S", one["running"][0]["worker"])
    backend.order("cancel", first)

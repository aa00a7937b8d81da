"""A worker in this process' child: checks, ends of time, refusals, and what it leaves behind."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from paddock.queue.directory import DirectoryQueue, find_queue
from paddock.queue.entry.submission import Submitted, submit
from paddock.queue.lease import read_identity
from paddock.queue.lifecycle import ACTIVE, CHECKING, DONE, FAILED, PAUSED, QUEUED
from paddock.record.layout import Home
from tests.waiting import until

WORKER = """
import json, sys
from pathlib import Path
from paddock.queue.directory import find_queue
from paddock.queue.lifecycle import Liveness
from paddock.record.layout import Home
from paddock.work.slots import Slots
from paddock.work.worker import Options, Worker
home, about = Home(Path(sys.argv[1])), json.loads(sys.argv[2])
if "liveness" in about:
    about["liveness"] = Liveness(*about["liveness"])
options = Options(Slots(*about.pop("slots", (1, ()))), **{"grace": 5.0, **about})
sys.exit(Worker(home, [find_queue("default", home)], options, Path(sys.argv[1]) / "cache").run())
"""
Start = Callable[..., "subprocess.Popen[bytes]"]


@pytest.fixture
def start(home: Home) -> Iterator[Start]:
    started: list[subprocess.Popen[bytes]] = []

    def begin(environ: dict[str, str] | None = None, **options: Any) -> subprocess.Popen[bytes]:
        words = [sys.executable, "-c", WORKER, str(home.path), json.dumps(options)]
        started.append(subprocess.Popen(words, env={**os.environ, **(environ or {})}))
        return started[-1]

    yield begin
    for process in started:
        process.terminate()
        process.wait(timeout=60)


@pytest.fixture
def queue(home: Home) -> DirectoryQueue:
    found = find_queue("default", home)
    found.prepare()
    return found


def put(home: Home, command: str, **about: Any) -> Submitted:
    return submit(command, home=home, **{"snapshot": False, **about})


def state(queue: DirectoryQueue, task: Submitted) -> str:
    return next((p.state for p in queue.list().places if p.id == task.id), "gone")


def log(queue: DirectoryQueue) -> str:
    """What all workers that are there have written to their files."""
    text = ""
    for name in os.listdir(queue.workers):
        try:
            text += (queue.workers / name).read_text()
        except FileNotFoundError:
            continue
    return text


def test_a_better_task_is_not_overtaken_while_its_code_is_unpacked(home, queue, start, tmp_path) -> None:
    work = tmp_path / "project"
    work.mkdir()
    (work / "main.py").write_text("")
    worse = put(home, f"echo worse >> {tmp_path}/order")
    better = put(home, f"echo better >> {tmp_path}/order", cwd=work, snapshot=True, priority=1)
    start()
    until(lambda: state(queue, worse) == state(queue, better) == DONE)
    assert (tmp_path / "order").read_text().split() == ["better", "worse"]


def test_a_task_is_seen_in_checking_while_its_check_runs_and_delays_nobody(home, queue, start, tmp_path) -> None:
    go = tmp_path / "go"
    waits = put(home, "true", chk=f"while ! test -e {go}; do sleep 0.05; done")
    start()
    until(lambda: state(queue, waits) == CHECKING)
    other = put(home, "true")
    until(lambda: state(queue, other) == DONE)
    assert state(queue, waits) == CHECKING
    go.touch()
    until(lambda: state(queue, waits) == DONE)
    (attempt,) = [a for p in queue.list().places if p.id == waits.id for a in queue.read(p).attempts]
    assert attempt.outcome == "done", "a check is no attempt"


def test_a_check_that_fails_is_tried_again_until_it_succeeds(home, queue, start, tmp_path) -> None:
    task = put(home, "true", chk=f"echo x >> {tmp_path}/tries; test -e {tmp_path}/go")
    start()
    until(lambda: (tmp_path / "tries").exists() and len((tmp_path / "tries").read_text()) >= 4)
    assert state(queue, task) in (QUEUED, CHECKING)
    (tmp_path / "go").touch()
    until(lambda: state(queue, task) == DONE)


def test_many_tasks_that_wait_for_the_same_are_one_check(home, queue, start, tmp_path) -> None:
    check = f"echo x >> {tmp_path}/tries; test -e {tmp_path}/go"
    tasks = [put(home, "true", chk=check) for _ in range(20)]
    start()
    until(lambda: (tmp_path / "tries").exists() and len((tmp_path / "tries").read_text()) >= 4)
    time.sleep(0.2)
    assert len((tmp_path / "tries").read_text()) < 20
    (tmp_path / "go").touch()
    until(lambda: all(state(queue, task) == DONE for task in tasks))


@pytest.mark.parametrize("to", ["gone", PAUSED, FAILED, QUEUED])
def test_a_task_can_be_moved_or_removed_while_its_check_runs(home, queue, start, tmp_path, to: str) -> None:
    task = put(home, "echo ran", chk=f"echo $$ >> {tmp_path}/pid; sleep 1000")
    worker = start()
    until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text().endswith("\n"))
    pid = (tmp_path / "pid").read_text().split()[0]
    (name,) = os.listdir(queue.directory(CHECKING))
    if to == "gone":
        (queue.directory(CHECKING) / name).unlink()
    else:
        os.rename(queue.directory(CHECKING) / name, queue.directory(to) / name)
    until(lambda: not Path(f"/proc/{pid}").exists())
    if to == QUEUED:  # then it is checked again
        until(lambda: len((tmp_path / "pid").read_text().split()) > 1)
    else:
        until(lambda: [p.token for p in queue.list().places if p.id == task.id] == [None] * (to != "gone"))
        assert state(queue, task) == to
    assert worker.poll() is None
    other = put(home, "true")
    until(lambda: state(queue, other) == DONE)


def test_a_worker_that_goes_or_dies_leaves_nothing_in_checking(home, queue, start) -> None:
    task = put(home, "true", chk="sleep 1000")
    worker = start()
    until(lambda: state(queue, task) == CHECKING)
    worker.terminate()
    assert worker.wait(timeout=60) == 0
    assert state(queue, task) == QUEUED
    worker = start()
    until(lambda: state(queue, task) == CHECKING)
    worker.kill()
    worker.wait()
    first = os.listdir(queue.directory(CHECKING))
    start()
    until(lambda: state(queue, task) == CHECKING and os.listdir(queue.directory(CHECKING)) != first)


def test_a_thousand_failing_checks_do_not_delay_a_task_that_can_run(home, queue, start) -> None:
    from paddock.queue.entry.submission import submit_all

    submit_all([{"cmd": "true", "chk": f"test -e /nowhere/{n}", "snapshot": False} for n in range(1000)], home=home)
    start()
    task = put(home, "true")
    until(lambda: state(queue, task) == DONE)


def test_without_the_kernels_word_a_new_task_is_found_all_the_same(home, queue, start) -> None:
    start(listen=False)
    until(lambda: "started" in log(queue))
    task = put(home, "sleep 1000.25")
    until(lambda: state(queue, task) == ACTIVE)
    (name,) = os.listdir(queue.directory(ACTIVE))
    os.rename(queue.directory(ACTIVE) / name, queue.directory(FAILED) / name)
    until(lambda: [p.token for p in queue.list([FAILED]).places] == [None])


@pytest.mark.parametrize("name", ["TERM", "INT", "HUP", "USR1", "USR2"])
def test_a_signal_gives_the_task_back(home, queue, start, tmp_path, name: str) -> None:
    task = put(home, f"touch {tmp_path}/runs; sleep 1000")
    worker = start()
    until(lambda: (tmp_path / "runs").exists())
    worker.send_signal(getattr(signal, f"SIG{name}"))
    assert worker.wait(timeout=60) == 0
    (place,) = queue.list().places
    assert (place.state, place.token) == (QUEUED, None)
    assert [a.outcome for a in queue.read(place).attempts] == ["requeued"]
    assert state(queue, task) == QUEUED


def test_a_second_signal_does_not_wait_for_the_grace(home, queue, start, tmp_path) -> None:
    put(home, f"trap '' TERM; touch {tmp_path}/runs; while :; do sleep 0.1; done")
    worker = start(grace=1000.0)
    until(lambda: (tmp_path / "runs").exists())
    worker.terminate()
    until(lambda: "stopping" in log(queue))
    assert worker.poll() is None
    worker.terminate()
    assert worker.wait(timeout=60) == 0
    assert [p.state for p in queue.list().places] == [QUEUED]


def test_with_drain_a_signal_lets_the_task_finish_and_nothing_is_begun(home, queue, start, tmp_path) -> None:
    first = put(home, f"touch {tmp_path}/runs; while ! test -e {tmp_path}/go; do sleep 0.05; done")
    worker = start(drain=True)
    until(lambda: (tmp_path / "runs").exists())
    second = put(home, "true")
    worker.terminate()
    until(lambda: "stopping" in log(queue))
    (tmp_path / "go").touch()
    assert worker.wait(timeout=60) == 0
    assert (state(queue, first), state(queue, second)) == (DONE, QUEUED)


def test_when_its_time_is_over_a_worker_gives_its_task_back_and_leaves(home, queue, start) -> None:
    task = put(home, "sleep 1000")
    long = put(home, "true", timeout=100)
    assert start(until=4.0).wait(timeout=60) == 0  # seconds in which also a busy machine begins a task
    assert (state(queue, task), state(queue, long)) == (QUEUED, QUEUED)
    files = {p.id: queue.read(p).attempts for p in queue.list().places}
    assert [a.outcome for a in files[task.id]] == ["requeued"]
    assert files[long.id] == (), "its timeout is longer than what was left"


def test_before_the_machine_is_taken_away_also_a_draining_worker_gives_back(home, queue, start) -> None:
    task = put(home, "sleep 1000")
    assert start(end=3.0, drain=True).wait(timeout=60) == 0
    assert state(queue, task) == QUEUED


def test_gpus_are_shared_out(home, queue, start, tmp_path) -> None:
    for number in range(3):
        put(home, f"echo $CUDA_VISIBLE_DEVICES > {tmp_path}/{number}; sleep 1000", gpus=1)
    start(slots=(4, ("0", "1")))
    until(lambda: all((tmp_path / str(n)).exists() and (tmp_path / str(n)).read_text() for n in range(2)))
    assert {(tmp_path / str(n)).read_text().strip() for n in range(2)} == {"0", "1"}
    free = put(home, "true")
    until(lambda: state(queue, free) == DONE)
    assert not (tmp_path / "2").exists()


def test_a_task_whose_code_is_gone_stays_queued_and_the_log_says_why(home, queue, start, tmp_path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "main.py").write_text("print(1)")
    task = put(home, f"{sys.executable} main.py", cwd=work, snapshot=True)
    assert task.task.code
    shutil.move(home.code, tmp_path / "code")
    start()
    until(lambda: f"waits: {task.id}: The code snapshot" in log(queue))
    other = put(home, "true")
    until(lambda: state(queue, other) == DONE)
    (place,) = [p for p in queue.list().places if p.id == task.id]
    assert (place.state, queue.read(place).attempts) == (QUEUED, ())
    shutil.rmtree(home.code, ignore_errors=True)
    shutil.move(tmp_path / "code", home.code)
    start()  # another worker need not rest
    until(lambda: state(queue, task) == DONE)


def test_where_no_run_can_be_made_the_task_stays_queued(home, queue, start, tmp_path) -> None:
    shutil.rmtree(home.runs, ignore_errors=True)
    home.runs.write_text("a file is in the way")
    task = put(home, "true")
    start()
    until(lambda: f"waits: {task.id}" in log(queue))
    (place,) = queue.list().places
    assert (place.state, place.token, queue.read(place).attempts) == (QUEUED, None, ())
    home.runs.unlink()
    home.runs.mkdir()
    start()
    until(lambda: state(queue, task) == DONE)


def stands_still(worker: subprocess.Popen[bytes], condition: Callable[[], bool]) -> bool:
    """Whether it is so when the worker is stopped; it goes on when not."""
    worker.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, worker.pid, os.WSTOPPED)
    if not condition():
        worker.send_signal(signal.SIGCONT)
        return False
    return True


def test_an_edited_task_runs_as_it_was_last_saved(home, queue, start, tmp_path) -> None:
    task = put(home, f"echo old > {tmp_path}/out", chk=f"echo x >> {tmp_path}/tries; test -e {tmp_path}/go")
    worker = start()
    until((tmp_path / "tries").exists)  # it may be in `checking` for a millisecond only
    until(lambda: state(queue, task) == QUEUED and stands_still(worker, lambda: state(queue, task) == QUEUED))
    path = queue.directory(QUEUED) / task.id
    path.write_text(path.read_text().replace("echo old", "echo new"))
    (tmp_path / "go").touch()
    worker.send_signal(signal.SIGCONT)
    until(lambda: state(queue, task) == DONE)
    assert (tmp_path / "out").read_text() == "new\n"


def test_the_files_of_a_task_are_whole_when_it_is_done(home, queue, start) -> None:
    tasks = [put(home, f"echo {n}") for n in range(30)]
    assert start(persist=False, slots=(3, ())).wait(timeout=120) == 0
    assert sorted(os.listdir(queue.directory(DONE))) == sorted(task.id for task in tasks)
    for number, task in enumerate(tasks):
        (place,) = [p for p in queue.list([DONE]).places if p.id == task.id]
        assert [a.tail for a in queue.read(place).attempts] == [str(number)]
        run = home.run(task.id)
        assert json.loads(run.facts.read_text())["id"] == task.id
        assert sorted(os.listdir(run.path)) == ["journal", "output", "run.json"]
        (journal,) = os.listdir(run.journals)
        kinds = [json.loads(line)["k"] for line in (run.journals / journal).read_text().splitlines()]
        assert [kind for kind in kinds if kind != "beat"] == ["open", "exit", "end"]


def test_a_worker_for_one_task_leaves_the_others_alone(home: Home, queue: DirectoryQueue, start: Start) -> None:
    first, second, third = (put(home, "true") for _ in range(3))
    worker = start(only=second.id, persist=False)
    assert worker.wait(timeout=60) == 0
    assert [task.state() for task in (first, second, third)] == [QUEUED, DONE, QUEUED]


def test_a_worker_for_one_task_sees_it_through_its_retries(home: Home, start: Start, tmp_path: Path) -> None:
    task = put(home, f'test "$PADDOCK_ATTEMPT" = 3 && touch {tmp_path}/third', retries=2)
    assert start(only=task.id, persist=False).wait(timeout=60) == 0
    assert task.state() == DONE
    assert (tmp_path / "third").exists()


def test_a_worker_for_a_task_that_is_over_gone_or_paused_leaves_at_once(
    home: Home, queue: DirectoryQueue, start: Start
) -> None:
    task = put(home, "true")
    assert start(only="20260101-000000-000000-abcd", persist=False).wait(timeout=60) == 0
    os.rename(queue.directory(QUEUED) / task.id, queue.directory(PAUSED) / task.id)
    assert start(only=task.id, persist=False).wait(timeout=60) == 0
    assert task.state() == PAUSED


def test_a_worker_for_one_task_takes_it_over_from_a_worker_that_was_killed(
    home: Home, queue: DirectoryQueue, start: Start, tmp_path: Path
) -> None:
    task = put(home, f"touch {tmp_path}/$PADDOCK_ATTEMPT; test $PADDOCK_ATTEMPT = 2 || sleep 600")
    first = start(only=task.id, persist=False)
    until((tmp_path / "1").exists)
    first.kill()
    first.wait(timeout=60)
    assert start(only=task.id, persist=False).wait(timeout=60) == 0
    assert task.state() == DONE


def test_a_worker_for_one_task_that_another_has_leaves_it_to_that_one(
    home: Home, queue: DirectoryQueue, start: Start, tmp_path: Path
) -> None:
    task = put(home, f"touch {tmp_path}/began; while ! test -e {tmp_path}/go; do sleep 0.1; done")
    quick = {"liveness": [0.2, 20.0, 30.0]}
    first = start(only=task.id, persist=False, **quick)
    until((tmp_path / "began").exists)
    assert start(only=task.id, persist=False, **quick).wait(timeout=60) == 0
    assert first.poll() is None
    (tmp_path / "go").touch()
    assert first.wait(timeout=60) == 0
    assert task.state() == DONE


@pytest.mark.parametrize("end", ["rename", "kill"])
def test_a_running_task_that_is_queued_under_its_bare_name_never_runs_twice_at_once(
    home: Home, queue: DirectoryQueue, start: Start, tmp_path: Path, end: str
) -> None:
    """Its worker needs a moment to see that its file is gone. One that was killed leaves its task running if its guard
    died with it."""
    alone = (
        f"exec 9>{tmp_path}/lock; flock -n 9 || touch {tmp_path}/double; echo x >> {tmp_path}/begun; sleep 1000 & wait"
    )
    task = put(home, alone)
    workers = {start().pid, start().pid}
    until(lambda: (tmp_path / "begun").exists() and len(crew(queue)) == 2)
    (place,) = (p for p in queue.list([ACTIVE]).places if p.id == task.id)
    assert place.token is not None
    identity = read_identity(queue.workers / place.token.worker)
    assert identity is not None and identity.pid in workers
    if end == "kill":
        os.kill(identity.pid, signal.SIGSTOP)  # so that it does not see its guard die
        os.kill(int(identity.guard.split()[0]), signal.SIGKILL)
        os.kill(identity.pid, signal.SIGKILL)
    os.rename(queue.file(place), queue.directory(QUEUED) / task.id)
    until(lambda: (tmp_path / "begun").read_text() == "x\nx\n")
    assert not (tmp_path / "double").exists()


def crew(queue: DirectoryQueue) -> list[str]:
    return [name for name in os.listdir(queue.workers) if not name.startswith(".")]


def test_a_command_that_is_too_long_for_an_argument_runs(home: Home, queue: DirectoryQueue, start: Start) -> None:
    task = put(home, f"cat <<'E' | wc -c\n{'ü' * 100_000}\n{'x' * 1_000_000}\nE\nexit 3")
    start()
    until(lambda: state(queue, task) == FAILED)
    (attempt,) = [a for p in queue.list([FAILED]).places for a in queue.read(p).attempts]
    assert (attempt.exit, attempt.tail) == ("exit code 3", str(200_001 + 1_000_001))

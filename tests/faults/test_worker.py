"""A worker does what the directories say, and loses nothing when it dies."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from paddock.queue.directory import DirectoryQueue, find_queue
from paddock.queue.entry.submission import Submitted, submit
from paddock.queue.lease import read_identity
from paddock.record.layout import Home
from tests.waiting import until

WORKER = """
import sys
from pathlib import Path
from paddock.queue.directory import find_queue
from paddock.record.layout import Home
from paddock.work.slots import Slots
from paddock.work.worker import Options, Worker
home = Home(Path(sys.argv[1]))
options = Options(Slots(int(sys.argv[3]), ()), persist=sys.argv[2] == "persist", grace=5.0)
sys.exit(Worker(home, [find_queue("default", home)], options, Path(sys.argv[1]) / "cache").run())
"""


@pytest.fixture
def start(home: Home) -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    started: list[subprocess.Popen[bytes]] = []

    def begin(mode: str = "drain", slots: int = 1) -> subprocess.Popen[bytes]:
        started.append(subprocess.Popen([sys.executable, "-c", WORKER, str(home.path), mode, str(slots)]))
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


def put(home: Home, command: str, **about: object) -> Submitted:
    return submit(command, home=home, snapshot=False, **about)


def state(queue: DirectoryQueue, task: Submitted) -> str:
    return next((p.state for p in queue.list().places if p.id == task.id), "gone")


def move(queue: DirectoryQueue, task: Submitted, to: str) -> None:
    """What a person does: mv."""
    place = next(p for p in queue.list().places if p.id == task.id)
    os.rename(queue.file(place), queue.directory(to) / place.name)


def lasting(number: int) -> str:
    """A command that lasts, and by which it is known among all of this machine: its number, and this process."""
    return f"sleep {number}.{os.getpid()}"


def is_alive(marker: str) -> bool:
    """Whether a process with this command line runs, looked up in /proc: not every machine has pgrep."""
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes().replace(b"\0", b" ") if entry.name.isdigit() else b""
        except OSError:
            continue
        if words.strip() == marker.encode():
            return True
    return False


def test_tasks_run_in_order_and_say_what_became_of_them(home, queue, start, read) -> None:
    good = put(home, "echo out; echo err >&2; echo '==== command'", config={"lr": 0.1}, name="first")
    bad = put(home, "exit 3")
    after = put(home, "echo never", after=[bad])
    anyway = put(home, "echo yes", after=[f"any:{bad.id}", good])
    again = put(home, "exit 1", retries=2)
    assert start(slots=2).wait(timeout=120) == 0
    states = [state(queue, task) for task in (good, bad, after, anyway, again)]
    assert states == ["done", "failed", "failed", "done", "failed"]
    files = {p.id: queue.read(p) for p in queue.list().places}
    (attempt,) = files[good.id].attempts
    assert (attempt.outcome, attempt.exit, attempt.tail) == ("done", "exit code 0", "out\nerr\n==== command")
    assert files[bad.id].attempts[0].exit == "exit code 3"
    assert files[after.id].attempts[0].exit == f"not run: {bad.id} failed"
    assert len(files[again.id].attempts) == 3
    found = read(home.runs / good.id)
    assert (found.facts["name"], found.facts["config"]) == ("first", {"lr": 0.1})
    assert found.records["exit"][0]["code"] == 0
    assert os.listdir(queue.workers) == []


def test_a_script_that_calls_init_joins_the_run_of_its_task(home, queue, start, read) -> None:
    task = put(home, f"{sys.executable} -c \"import paddock; paddock.init(project='x').log({{'a': 1}})\"")
    assert start().wait(timeout=120) == 0
    assert state(queue, task) == "done"
    found = read(home.runs / task.id)
    assert found.values("a") == [1]
    assert {r["role"] for r in found.records["open"]} == {"main", "supervisor"}


def test_rm_kills_and_mv_pauses_and_goes_on(home, queue, start, tmp_path) -> None:
    lasts = lasting(1234)
    gone, paused = put(home, lasts), put(home, "sleep 0.3; echo after")
    start("persist", 2)
    until(lambda: state(queue, gone) == "active" and is_alive(lasts))
    place = next(p for p in queue.list().places if p.id == gone.id)
    queue.file(place).unlink()
    until(lambda: not is_alive(lasts))
    assert state(queue, gone) == "gone"
    until(lambda: state(queue, paused) in ("active", "done"))
    ticks = tmp_path / "ticks"
    held = put(home, f"while sleep 0.05; do echo x >> {ticks}; done")
    until(lambda: state(queue, held) == "active" and advances(ticks))
    move(queue, held, "paused")
    until(lambda: not advances(ticks))
    move(queue, held, "active")
    until(lambda: advances(ticks))
    move(queue, held, "failed")
    until(lambda: not advances(ticks))
    until(lambda: [p.token for p in queue.list(["failed"]).places if p.id == held.id] == [None])


def advances(path: Path) -> bool:
    before = path.stat().st_size if path.exists() else 0
    time.sleep(0.5)
    return path.exists() and path.stat().st_size > before


def test_a_worker_that_is_told_to_go_gives_its_task_back(home, queue, start) -> None:
    lasts = lasting(3456)
    task = put(home, lasts)
    worker = start("persist")
    until(lambda: is_alive(lasts))
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(timeout=60) == 0
    assert state(queue, task) == "queued"
    assert not is_alive(lasts)
    assert os.listdir(queue.workers) == []


def test_a_killed_workers_task_runs_again_elsewhere_and_never_twice_at_once(home, queue, start, tmp_path) -> None:
    log, go = tmp_path / "log", tmp_path / "go"
    log.touch()
    task = put(home, f"echo begin >> {log}; until test -e {go}; do sleep 0.05; done; echo end >> {log}")
    first = start("persist")
    until(lambda: log.read_text() == "begin\n")
    first.kill()
    first.wait()
    second = start()
    until(lambda: log.read_text() == "begin\nbegin\n")
    go.touch()  # for whichever copy lives
    assert second.wait(timeout=120) == 0
    assert state(queue, task) == "done"
    assert log.read_text().split() == ["begin", "begin", "end"]
    outcomes = [a.outcome for p in queue.list().places for a in queue.read(p).attempts]
    assert outcomes == ["lost", "done"]


def test_what_a_killed_worker_and_guard_left_is_ended_although_the_tasks_file_is_gone(
    home: Home, queue: DirectoryQueue, start: Callable[..., subprocess.Popen[bytes]]
) -> None:
    lasts = lasting(98765)
    task = put(home, f"exec {lasts}")
    worker = start("persist")
    until(lambda: state(queue, task) == "active" and is_alive(lasts))
    (name,) = (n for n in os.listdir(queue.workers) if not n.startswith("."))
    identity = read_identity(queue.workers / name)
    assert identity is not None
    os.kill(worker.pid, signal.SIGSTOP)  # so that it does not see its guard die
    os.kill(int(identity.guard.split()[0]), signal.SIGKILL)
    os.kill(worker.pid, signal.SIGKILL)
    worker.wait()
    (place,) = (p for p in queue.list().places if p.id == task.id)
    queue.file(place).unlink()
    assert is_alive(lasts)
    start("persist")
    until(lambda: not is_alive(lasts))

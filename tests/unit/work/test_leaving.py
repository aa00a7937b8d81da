"""A worker that leaves: not before it has seen that those live who run something, and has put away what it ran."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from paddock.queue import lease
from paddock.queue.directory import DirectoryQueue, find_queue
from paddock.queue.entry.submission import Submitted, submit
from paddock.queue.lease import Lease
from paddock.queue.lifecycle import ACTIVE, DONE, Token
from paddock.record.layout import Home
from tests.waiting import DEADLINE, until

WORKER = """
import sys
from pathlib import Path
from paddock.queue.directory import find_queue
from paddock.queue.lifecycle import Liveness
from paddock.record.layout import Home
from paddock.work.slots import Slots
from paddock.work.worker import Options, Worker
home = Home(Path(sys.argv[1]))
options = Options(Slots(1, ()), persist=False, liveness=Liveness(0.1, 20.0, float(sys.argv[2])))
sys.exit(Worker(home, [find_queue("default", home)], options, Path(sys.argv[1]) / "cache").run())
"""


def work(home: Home, reclaim: float) -> int:
    return subprocess.run([sys.executable, "-c", WORKER, str(home.path), str(reclaim)], timeout=DEADLINE).returncode


@pytest.fixture
def queue(home: Home) -> DirectoryQueue:
    found = find_queue("default", home)
    found.prepare()
    return found


@pytest.fixture
def far(queue: DirectoryQueue) -> Iterator[Lease]:
    """A worker of another machine."""
    lease = Lease(queue.workers, "far-1-abcdef")
    text = lease.path.read_text()
    lease.path.write_text(text.replace(f"host: {os.uname().nodename}\n", "host: elsewhere\n"))
    assert "elsewhere" in lease.path.read_text()
    yield lease
    lease.drop()


@pytest.fixture
def taken(home: Home, queue: DirectoryQueue, far: Lease) -> Submitted:
    """A task that it has."""
    task = submit("true", home=home, snapshot=False)
    (place,) = queue.list().places
    assert queue.claim(place, Token(far.path.name, 1))
    assert task.state() == ACTIVE
    return task


def test_what_a_dead_worker_of_another_machine_had_is_run_by_the_next_that_comes(home: Home, taken: Submitted) -> None:
    """Else it would stay there for ever where all leave when nothing waits, as the workers of `paddock scale` do."""
    assert work(home, reclaim=1.0) == 0
    assert taken.state() == DONE


def test_nobody_stays_for_what_a_living_worker_runs(home: Home, taken: Submitted, far: Lease) -> None:
    over = threading.Event()

    def live() -> None:
        while not over.wait(0.1):
            far.renew()

    thread = threading.Thread(target=live)
    thread.start()
    try:
        assert work(home, reclaim=10 * DEADLINE) == 0
    finally:
        over.set()
        thread.join()
    assert taken.state() == ACTIVE


def test_what_was_handed_to_a_job_of_an_engine_is_no_dead_workers(home: Home, queue: DirectoryQueue) -> None:
    """A worker that helps out on such a queue would run it a second time, beside the job."""
    task = submit("true", home=home, snapshot=False)
    (place,) = queue.list().places
    handed = queue.claim(place, Token("k8s-3f2a9c11", 1))
    assert handed is not None
    other = submit("sleep 1", home=home, snapshot=False)  # while this runs, the worker looks for the dead several times
    assert work(home, reclaim=0.0) == 0
    assert handed in queue.list().places and (task.state(), other.state()) == (ACTIVE, DONE)


PATIENT = """
import sys
from pathlib import Path
from paddock.queue.directory import find_queue
from paddock.record.layout import Home
from paddock.work.slots import Slots
from paddock.work.worker import LAST_TRIES_SECONDS, Options, Worker

class Patient(Worker):
    def stop(self, why, *, force=False):
        super().stop(why, force=force)
        self._stopped -= 2 * LAST_TRIES_SECONDS  # as if its task had gone on for that long

home = Home(Path(sys.argv[1]))
options = Options(Slots(1, ()), drain=True)
sys.exit(Patient(home, [find_queue("default", home)], options, Path(sys.argv[1]) / "cache").run())
"""


def test_what_ends_long_after_its_worker_was_told_to_leave_is_put_away(
    home: Home, queue: DirectoryQueue, tmp_path: Path
) -> None:
    """It stayed in active/, with a note that it is done, until another worker came."""
    end = tmp_path / "end"
    task = submit(f"while ! test -e {end}; do sleep 0.05; done", home=home, snapshot=False)
    worker = subprocess.Popen([sys.executable, "-c", PATIENT, str(home.path)])
    try:
        until(lambda: task.state() == ACTIVE)
        until(lambda: "running" in next(iter(queue.workers.iterdir())).read_text())
        worker.terminate()
        until(lambda: "stopping" in next(iter(queue.workers.iterdir())).read_text())
        end.touch()
        assert worker.wait(timeout=DEADLINE) == 0
        assert task.state() == DONE
        assert not list(queue.workers.iterdir())
    finally:
        end.touch()
        worker.kill()
        worker.wait()


@pytest.fixture
def stayer(home: Home, queue: DirectoryQueue) -> Iterator[subprocess.Popen[bytes]]:
    """A worker that stays, and that others may take for dead after two seconds."""
    source = WORKER.replace("persist=False", "persist=True").replace("Liveness(0.1, 20.0, ", "Liveness(0.1, 1.0, ")
    process = subprocess.Popen([sys.executable, "-c", source, str(home.path), "2.0"])
    until(lambda: "started" in "".join(path.read_text() for path in queue.workers.iterdir()))
    yield process
    process.kill()
    process.wait(DEADLINE)


def test_a_worker_that_others_buried_while_it_was_silent_goes_on(
    home: Home, queue: DirectoryQueue, stayer: subprocess.Popen[bytes]
) -> None:
    """After six minutes of a hanging disk the first one to wake would else send all others home."""
    (file,) = queue.workers.iterdir()
    stayer.send_signal(signal.SIGSTOP)
    time.sleep(2.5)  # its silence
    file.unlink()
    stayer.send_signal(signal.SIGCONT)
    task = submit("true", home=home, snapshot=False)
    until(lambda: task.state() == DONE)
    assert stayer.poll() is None and "it is there again" in file.read_text()


def test_removing_the_file_of_a_worker_that_is_heard_of_sends_it_home(
    queue: DirectoryQueue, stayer: subprocess.Popen[bytes]
) -> None:
    (file,) = queue.workers.iterdir()

    def ended() -> bool:
        file.unlink(missing_ok=True)  # again, should the machine have been so busy that nothing was heard of it
        return stayer.poll() is not None

    until(ended, pause=1.0)
    assert stayer.returncode == 0


def test_who_did_not_look_for_a_while_does_not_judge(
    queue: DirectoryQueue, far: Lease, monkeypatch: pytest.MonkeyPatch
) -> None:
    times = iter([0.0, 1000.0, *range(1005, 1305, 5), 1305.0])  # first as if both had waited for one disk
    monkeypatch.setattr(lease, "_clock", lambda: next(times))
    watch = lease.Watch(queue.workers, reclaim=300.0)
    assert not any(watch.is_dead(far.path.name) for _ in range(62))
    assert watch.is_dead(far.path.name)

"""Why a task waits, in words."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from paddock.queue.crew import SILENT_SECONDS
from paddock.queue.directory import DirectoryQueue
from paddock.queue.lease import Lease
from paddock.queue.lifecycle import ACTIVE, CHECKING, DONE, FAILED, PAUSED, QUEUED, Place, Token
from paddock.queue.show.roster import workers
from paddock.queue.show.status import OTHERS, owned, status
from paddock.queue.task import Dependency, Task
from paddock.record.layout import Home


@pytest.fixture
def queue(tmp_path: Path) -> DirectoryQueue:
    found = DirectoryQueue(tmp_path / "q")
    found.prepare()
    return found


@pytest.fixture
def alive(queue: DirectoryQueue) -> Iterator[str]:
    """A worker with two slots and two GPUs: this process."""
    lease = Lease(queue.workers, "w-1", "0,1", 2)
    yield "w-1"
    lease.drop()


def put(queue: DirectoryQueue, at: Place, **about: object) -> None:
    queue.put([Task(id=at.id, command="x", **about)])  # type: ignore[arg-type]
    os.rename(queue.file(Place(QUEUED, at.id, int(about.get("priority", 0)))), queue.file(at))  # type: ignore[call-overload]


def whys(queue: DirectoryQueue, home: Home | None = None) -> dict[str, str]:
    return {entry.id: why for entry, why in status(queue, home=home).waiting}


def test_without_a_worker_that_is_why(queue: DirectoryQueue) -> None:
    put(queue, Place(QUEUED, "a"))
    assert whys(queue) == {"a": "no worker"}


def test_of_what_was_handed_over_to_an_engine_that_is_away_nothing_is_known(queue: DirectoryQueue) -> None:
    """No worker takes it over, and none has died."""
    put(queue, Place(QUEUED, "waits", 0, Token("k8s-3f2a9c", 1)))
    put(queue, Place(ACTIVE, "runs", 0, Token("k8s-4f2a9c", 1)))
    found = status(queue, jobs={OTHERS: "No cluster answers."})
    unknown = "handed over to its engine, which says nothing of it now"
    assert [why for _, why in found.waiting] == [f"{unknown}: No cluster answers."]
    (running,) = found.running
    assert (found.fate(running), owned(running, found.crew)) == ("unknown", unknown)
    known = status(queue, jobs={"waits": "job waits-1 PENDING (no room)"})
    assert [why for _, why in known.waiting] == ["job waits-1 PENDING (no room)"]


def test_what_fits_is_next_and_what_does_not_says_what_it_needs(
    queue: DirectoryQueue, alive: str, tmp_path: Path
) -> None:
    put(queue, Place(ACTIVE, "runs", 0, Token(alive, 1)), gpus=1)
    put(queue, Place(QUEUED, "one"))
    put(queue, Place(QUEUED, "two"))
    put(queue, Place(QUEUED, "first", 5), priority=5, gpus=2)
    put(queue, Place(QUEUED, "huge"), gpus=3)
    put(queue, Place(QUEUED, "gang"), workers=3)
    put(queue, Place(QUEUED, "lost"), code="ab" * 32)
    assert whys(queue, Home(tmp_path / "home")) == {
        "first": "needs 2 GPUs at once; 1 are free",
        "gang": "needs 3 slots at once for its ranks; there are 2",
        "huge": "needs 3 GPUs; the most that a worker has is 2",
        "lost": f"its code (abababababab) is not in {tmp_path / 'home'}",
        "one": "next",
        "two": "all 2 slots are busy",
    }
    assert next(iter(whys(queue))) == "first"


def test_a_task_that_asked_for_no_gpu_has_that_of_its_slot(queue: DirectoryQueue, alive: str) -> None:
    put(queue, Place(ACTIVE, "runs", 0, Token(alive, 1)))
    put(queue, Place(QUEUED, "both"), gpus=2)
    assert whys(queue) == {"both": "needs 2 GPUs at once; 1 are free"}


def test_dependencies_are_told_with_what_they_do(queue: DirectoryQueue, alive: str) -> None:
    put(queue, Place(ACTIVE, "p", 0, Token(alive, 1)), name="parent")
    put(queue, Place(FAILED, "bad"))
    put(queue, Place(DONE, "good"))
    put(queue, Place(QUEUED, "a"), after=(Dependency("p"), Dependency("good")))
    put(queue, Place(QUEUED, "b"), after=(Dependency("bad"),))
    put(queue, Place(QUEUED, "c"), after=(Dependency("p"), Dependency("a")))
    put(queue, Place(QUEUED, "d"), after=(Dependency("nosuch"),))
    put(queue, Place(QUEUED, "e"), after=(Dependency("good"),), check="test -f\n  ready")
    put(queue, Place(CHECKING, "f", 0, Token(alive, 1)), check="true")
    assert whys(queue) == {
        "a": "after parent, which is active",
        "b": "will fail: bad failed",
        "c": "after parent, which is active, and 1 more",
        "d": "will fail: nosuch does not exist",
        "e": "its check has not succeeded yet: test -f ready",
        "f": "its check runs: true",
    }


def test_what_is_held_says_by_whom(queue: DirectoryQueue, alive: str) -> None:
    put(queue, Place(PAUSED, "held"))
    put(queue, Place(PAUSED, "stopped", 0, Token(alive, 2)))
    put(queue, Place(PAUSED, "orphan", 0, Token("w-gone", 1)))
    put(queue, Place(QUEUED, "going", 0, Token(alive, 1)))
    put(queue, Place(QUEUED, "stuck", 0, Token("w-gone", 1)))
    assert whys(queue) == {
        "held": "paused",
        "stopped": "paused in attempt 2, stopped on w-1",
        "orphan": "paused in attempt 1; its worker w-gone has no file any more",
        "going": "w-1 is letting go of it",
        "stuck": "held by w-gone, which has no file any more; a live worker takes it over",
    }


def test_ranks_and_slots_that_are_kept_for_them_are_taken(queue: DirectoryQueue, alive: str) -> None:
    put(queue, Place(ACTIVE, "gang", 0, Token(alive, 1)), workers=2)
    put(queue, Place(QUEUED, "gathers", 1), workers=2, priority=1)
    put(queue, Place(QUEUED, "single"))
    for path in ("gang/rank-0~w-1.1", "gang/rank-1~w-9.1", "gathers/offer~w-1.2"):
        file = queue.path / "gangs" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("")
    assert whys(queue) == {
        "gathers": "gathers its ranks: 1 of 2 slots are kept for it",
        "single": "all 2 slots are busy",
    }


def test_files_that_are_no_tasks_say_why(queue: DirectoryQueue, alive: str) -> None:
    (queue.directory(QUEUED) / "empty").write_text("")
    (queue.directory(QUEUED) / "newer").write_text("paddock-task 9 x\n")
    os.symlink("/etc/passwd", queue.directory(QUEUED) / "link")
    os.mkfifo(queue.directory(QUEUED) / "pipe")
    found = whys(queue)
    assert "is no task" in found["empty"] and "format 9" in found["newer"]
    assert found["link"] == found["pipe"] == "it is no plain file, and is left alone"


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file away")
def test_a_file_of_somebody_else_says_whose_it_is(queue: DirectoryQueue) -> None:
    put(queue, Place(QUEUED, "a"))
    os.chown(queue.file(Place(QUEUED, "a")), 12345, -1)
    assert whys(queue) == {"a": "it belongs to somebody else (user 12345), and is left alone"}


def test_a_worker_is_alive_silent_or_dead(queue: DirectoryQueue, alive: str) -> None:
    other = Lease(queue.workers, "w-2")
    text = other.path.read_text()
    (queue.workers / "w-dead").write_text(text.replace(f"pid: {os.getpid()}", "pid: 999999999"))
    elsewhere = text.replace(f"host: {os.uname().nodename}", "host: elsewhere")
    (queue.workers / "w-far").write_text(elsewhere)
    (queue.workers / "w-silent").write_text(elsewhere)
    then = os.stat(queue.workers / "w-far").st_mtime - SILENT_SECONDS - 5
    os.utime(queue.workers / "w-silent", (then, then))
    (queue.workers / "notes").write_text("no worker at all")
    states = {seen.name: seen.state for seen in workers(queue)}
    assert states == {"w-1": "alive", "w-2": "alive", "w-dead": "dead", "w-far": "alive", "w-silent": "silent"}
    assert os.listdir(queue.path / ".submit") == []
    other.drop()


def test_tasks_that_wait_for_each_other_wait_for_ever(queue: DirectoryQueue, alive: str) -> None:
    put(queue, Place(QUEUED, "a"), after=(Dependency("b"),))
    put(queue, Place(QUEUED, "b"), after=(Dependency("c"),), name="evaluation")
    put(queue, Place(QUEUED, "c"), after=(Dependency("a"), Dependency("x")), name="training")
    put(queue, Place(QUEUED, "child"), after=(Dependency("a"),))
    put(queue, Place(ACTIVE, "x", 0, Token(alive, 1)))
    forever = "waits for ever: for evaluation, which waits for training, which waits for it"
    assert whys(queue)["a"] == forever
    assert whys(queue)["child"] == "after a, which is queued"
    os.rename(queue.file(Place(ACTIVE, "x", 0, Token(alive, 1))), queue.file(Place(FAILED, "x")))
    found = whys(queue)  # who is doomed fails, and with it all who wait for it
    assert found["c"] == "will fail: x failed"
    assert found["a"] == "after evaluation, which is queued"

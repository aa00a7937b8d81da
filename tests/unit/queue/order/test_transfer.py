"""Tasks change their queue: nothing is lost, nothing is in both, also between two disks."""

from __future__ import annotations

import errno
import os
import signal
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from paddock.queue.directory import DirectoryQueue
from paddock.queue.lifecycle import ACTIVE, DONE, QUEUED, Place, Token
from paddock.queue.order.transfer import transfer
from paddock.queue.show.view import Entry, snapshot
from paddock.queue.task import Task


@pytest.fixture
def source(tmp_path: Path) -> DirectoryQueue:
    found = DirectoryQueue(tmp_path / "source")
    found.prepare()
    return found


@pytest.fixture(params=["same disk", "another disk"])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[DirectoryQueue]:
    """Another disk is /dev/shm, where there is one that is not the same."""
    where = tmp_path
    if request.param == "another disk":
        if not os.path.isdir("/dev/shm") or os.stat("/dev/shm").st_dev == os.stat(tmp_path).st_dev:
            pytest.skip("there is one disk only")
        where = Path(tempfile.mkdtemp(dir="/dev/shm"))
    found = DirectoryQueue(where / "target")
    found.prepare()
    yield found
    if where != tmp_path:
        import shutil

        shutil.rmtree(where)


def paths(queue: DirectoryQueue) -> list[str]:
    return sorted(place.path for place in queue.list().places)


def put(queue: DirectoryQueue, *ids: str, priority: int = 0) -> list[Entry]:
    queue.put([Task(id=task, command=f"echo {task}", priority=priority) for task in ids])
    return [entry for entry in snapshot(queue).entries if entry.id in ids]


def test_tasks_arrive_with_their_place_and_content(source: DirectoryQueue, target: DirectoryQueue) -> None:
    entries = put(source, "a", "b", priority=4)
    os.rename(source.file(Place(QUEUED, "b", 4)), source.file(Place(DONE, "b")))
    before = source.file(Place(QUEUED, "a", 4)).read_bytes()
    steps, left = transfer(source, target, snapshot(source).entries)
    assert (sorted(step.id for step in steps), left) == (["a", "b"], [])
    assert (paths(source), paths(target)) == ([], ["done/b", "queued/a@4"])
    assert target.file(Place(QUEUED, "a", 4)).read_bytes() == before
    assert os.listdir(target.path / ".submit") == []
    assert len(entries) == 2


def test_a_task_that_a_worker_took_meanwhile_stays(source: DirectoryQueue, target: DirectoryQueue) -> None:
    entries = put(source, "a", "b")
    source.move(Place(QUEUED, "a"), Place(ACTIVE, "a", 0, Token("w", 1)))
    steps, left = transfer(source, target, entries)
    assert ([step.id for step in steps], left) == (["b"], ["a is active now."])
    assert (paths(source), paths(target)) == (["active/a~w.1"], ["queued/b"])


def test_when_the_other_disk_refuses_everything_is_let_go_of_where_it_is(
    source: DirectoryQueue, target: DirectoryQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries = put(source, "a", "b", "c")
    rename, copy, count = os.rename, DirectoryQueue.place_copy, [0]

    def refuse() -> None:
        count[0] += 1
        if count[0] == 2:
            raise OSError(errno.ENOSPC, "No space left on device")

    def failing_rename(old: object, new: object) -> None:
        crosses = str(target.path) in str(new) and str(source.path) in str(old)
        if crosses and os.stat(source.path).st_dev == os.stat(target.path).st_dev:
            refuse()
        rename(old, new)  # type: ignore[arg-type]

    def failing_copy(queue: DirectoryQueue, data: bytes, at: Place) -> None:
        refuse()
        copy(queue, data, at)

    monkeypatch.setattr(os, "rename", failing_rename)
    monkeypatch.setattr(DirectoryQueue, "place_copy", failing_copy)
    with pytest.raises(OSError, match="No space"):
        transfer(source, target, entries)
    assert len(paths(target)) == 1 and len(paths(source)) == 2
    assert sorted(paths(source) + paths(target)) == ["queued/a", "queued/b", "queued/c"]


def killed_at(step: int, source: DirectoryQueue, target: DirectoryQueue) -> bool:
    """Move everything in a process that kills itself at its n-th look at or change of a file; False when it came to
    its end before that."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a fork beside threads, which this child does not need
        child = os.fork()
    if child == 0:
        count = [0]

        def hook(event: str, arguments: object) -> None:
            if event in ("open", "os.rename", "os.remove", "os.listdir"):
                count[0] += 1
                if count[0] == step:
                    os.kill(os.getpid(), signal.SIGKILL)

        entries = snapshot(source).entries
        sys.addaudithook(hook)
        transfer(source, target, entries)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def test_killed_at_any_moment_nothing_is_lost_and_nothing_can_run_in_both(
    source: DirectoryQueue, target: DirectoryQueue
) -> None:
    step = 1
    while True:
        for queue in (source, target):
            for place in queue.list().places:
                queue.file(place).unlink()
        put(source, "a", "b")
        more = killed_at(step, source, target)
        for task in ("a", "b"):
            here = [p for q in (source, target) for p in q.list().places if p.id == task]
            assert here, f"{task} is lost after step {step}"
            free = [p for p in here if p.token is None]
            assert len(free) <= 1 and (not free or len(here) == 1), f"{task} could run twice after step {step}: {here}"
        if not more:
            break
        step += 1
    assert step > 5 and paths(target) == ["queued/a", "queued/b"]

"""The directories of a queue as a worker has them in memory, with and without the kernel's word."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from paddock.queue.directory import DirectoryQueue
from paddock.queue.lifecycle import ACTIVE, DONE, FAILED, PAUSED, QUEUED, Place, Token
from paddock.queue.task import Task
from paddock.record.wake import Change
from paddock.work.queues.mirror import Mirror

TOKEN = Token("w", 1)


@pytest.fixture
def queue(tmp_path: Path) -> DirectoryQueue:
    found = DirectoryQueue(tmp_path / "q")
    found.prepare()
    return found


@pytest.fixture(params=["told", "listing"])
def mirror(queue: DirectoryQueue, request: pytest.FixtureRequest) -> Mirror:
    return Mirror(queue, listen=request.param == "told")


def until(mirror: Mirror, condition: Callable[[list[Change]], bool]) -> list[Change]:
    """Refresh until it is so; all changes on the way."""
    end = time.monotonic() + 30
    found = mirror.refresh(time.monotonic())
    while not condition(found):
        assert time.monotonic() < end, found
        time.sleep(0.01)
        found += mirror.refresh(time.monotonic())
    return found


def test_it_knows_what_was_there_and_what_comes_and_goes(queue: DirectoryQueue, mirror: Mirror) -> None:
    queue.put([Task(id="t1", command="x"), Task(id="t2", command="x", priority=3)])
    until(mirror, lambda _: mirror.names(QUEUED) == {"t1", "t2@3"})
    assert (mirror.state("t1"), mirror.state("t2"), mirror.state("t3")) == (QUEUED, QUEUED, "")
    mine = queue.claim(Place(QUEUED, "t2", 3), TOKEN)
    assert mine is not None
    until(mirror, lambda _: mirror.state("t2") == ACTIVE)
    assert [p.name for p in mirror.claims().places] == ["t2@3~w.1"]
    queue.move(mine, Place(DONE, "t2"))
    os.unlink(queue.file(Place(QUEUED, "t1")))
    changes = until(mirror, lambda _: mirror.state("t2") == DONE and mirror.state("t1") == "")
    assert Change(QUEUED, "t1", False) in changes
    assert mirror.claims().places == []


def test_what_was_not_changed_is_not_listed_again(queue: DirectoryQueue, mirror: Mirror) -> None:
    queue.put([Task(id="t1", command="x")])
    until(mirror, lambda _: "t1" in mirror.names(QUEUED))
    now = time.monotonic()
    for later in range(10):  # until the directory's time is old enough to be trusted
        mirror.refresh(now + later)
    listed = mirror.listed[QUEUED].at
    for later in range(10, 20):
        mirror.refresh(now + later)
    assert mirror.listed[QUEUED].at == listed


def test_files_that_are_not_shown_are_not_there(queue: DirectoryQueue, mirror: Mirror) -> None:
    (queue.directory(QUEUED) / ".t1.swp").write_text("x")
    (queue.directory(QUEUED) / "t1").write_text("x")
    until(mirror, lambda _: mirror.names(QUEUED) == {"t1"})


def test_an_edit_is_told(queue: DirectoryQueue) -> None:
    queue.put([Task(id="t1", command="x")])
    mirror = Mirror(queue)
    if mirror.fd < 0:
        pytest.skip("the kernel does not tell here")
    mirror.refresh(time.monotonic())
    with open(queue.file(Place(QUEUED, "t1")), "a") as file:
        file.write("# note\n")
    assert Change(QUEUED, "t1", True) in mirror.refresh(time.monotonic())


def test_a_flood_of_news_ends_in_the_truth(queue: DirectoryQueue) -> None:
    mirror = Mirror(queue)
    mirror.refresh(time.monotonic())
    directory = queue.directory(FAILED)
    most = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    for number in range(most // 2 + 100):
        (directory / "x").write_text("")
        os.rename(directory / "x", directory / f"t{number % 7}")
    until(mirror, lambda _: mirror.names(FAILED) == {f"t{n}" for n in range(7)})


def test_a_directory_that_was_replaced_is_listed(queue: DirectoryQueue) -> None:
    mirror = Mirror(queue)
    mirror.refresh(time.monotonic())
    os.rename(queue.directory(PAUSED), queue.path / "away")
    queue.directory(PAUSED).mkdir()
    (queue.directory(PAUSED) / "t1").write_text("x")
    until(mirror, lambda _: mirror.names(PAUSED) == {"t1"})
    assert mirror.fd < 0, "from now on it looks by itself"


def test_another_file_of_a_task_is_seen(queue: DirectoryQueue, mirror: Mirror) -> None:
    mine = Place(ACTIVE, "t1", 0, TOKEN)
    (queue.directory(ACTIVE) / mine.name).write_text("x")
    (queue.directory(ACTIVE) / "t11~w.1").write_text("x")
    until(mirror, lambda _: len(mirror.names(ACTIVE)) == 2)
    assert not mirror.has_rival(mine)
    (queue.directory(PAUSED) / "t1@2~other.1").write_text("x")
    until(mirror, lambda _: bool(mirror.names(PAUSED)))
    assert mirror.has_rival(mine)


def test_of_two_workers_files_of_a_task_one_may_go(queue: DirectoryQueue, mirror: Mirror) -> None:
    for name in ("t1~a.1", "t1~b.1"):
        (queue.directory(ACTIVE) / name).write_text("x")
    until(mirror, lambda _: len(mirror.names(ACTIVE)) == 2)
    (queue.directory(ACTIVE) / "t1~b.1").unlink()
    until(mirror, lambda _: len(mirror.names(ACTIVE)) == 1)
    assert mirror.is_owned("t1")
    assert mirror.state("t1") == ACTIVE
    (queue.directory(ACTIVE) / "t1~a.1").unlink()
    until(mirror, lambda _: not mirror.names(ACTIVE))
    assert not mirror.is_owned("t1")

"""Which task is next."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from paddock.queue.directory import DirectoryQueue
from paddock.queue.lifecycle import DONE, FAILED, PAUSED, QUEUED, Place, Token
from paddock.queue.task import Dependency, Task, render
from paddock.work.queues.mirror import Mirror
from paddock.work.queues.waiting import Candidate, Waiting
from paddock.work.slots import Slots

ONE = Slots(1, ())


class Bench:
    def __init__(self, path: Path, most: Slots = ONE) -> None:
        self.queue = DirectoryQueue(path)
        self.queue.prepare()
        self.said: list[str] = []
        self.mirror = Mirror(self.queue)
        self.waiting = Waiting(self.queue, self.mirror, most, self.said.append)

    def put(self, name: str, **about: object) -> None:
        self.queue.put([Task(id=name, command="x", **about)])  # type: ignore[arg-type]

    def move(self, name: str, state: str, to: str) -> None:
        os.rename(self.queue.directory(state) / name, self.queue.directory(to) / name)

    def next(self, free: Slots = ONE, later: float = 0.0) -> Candidate | None:
        now = time.monotonic()
        self.waiting.note(self.mirror.refresh(now + later))
        return self.waiting.next(free, now + later)

    def ids(self, free: Slots = ONE) -> list[str]:
        found = []
        while (candidate := self.next(free)) is not None:
            found.append(candidate.place.id)
        return found


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path / "q")


def test_higher_priority_first_then_the_older(bench: Bench) -> None:
    for name, priority in (("t3", 0), ("t1", 0), ("t2", 5), ("t4", -1)):
        bench.put(name, priority=priority)
    assert bench.ids() == ["t2", "t1", "t3", "t4"]
    assert bench.next() is None, "each is offered once"
    bench.put("t0", priority=5)
    assert bench.ids() == ["t0"]


def test_a_task_waits_for_its_parents_and_is_offered_when_they_are_done(bench: Bench) -> None:
    bench.put("p1")
    bench.put("p2")
    bench.put("child", after=(Dependency("p1"), Dependency("p2", "any")))
    assert bench.ids() == ["p1", "p2"]
    bench.move("p1", QUEUED, DONE)
    assert bench.ids() == []
    bench.move("p2", QUEUED, FAILED)
    assert bench.ids() == ["child"]


def test_a_task_whose_parent_failed_or_is_gone_is_doomed_with_a_reason(bench: Bench) -> None:
    bench.put("p1")
    bench.put("child", after=(Dependency("p1"),))
    bench.put("orphan", after=(Dependency("nobody"),))
    found = {}
    end = time.monotonic() + 30
    while len(found) < 2 and time.monotonic() < end:
        if (candidate := bench.next(later=2.0)) is not None:
            found[candidate.place.id] = candidate.doomed
    assert found == {"p1": "", "orphan": "nobody does not exist"}
    bench.move("p1", QUEUED, FAILED)
    candidate = bench.next()
    while candidate is None and time.monotonic() < end:
        candidate = bench.next(later=2.0)
    assert candidate is not None
    assert candidate.doomed == "p1 failed"


def test_tasks_that_wait_for_each_other_are_said_once_and_not_waited_for(bench: Bench) -> None:
    bench.put("a", after=(Dependency("c"),))
    bench.put("b", after=(Dependency("a", "any"),))
    bench.put("c", after=(Dependency("b"),))
    bench.put("child", after=(Dependency("a"),))
    assert bench.ids() == []
    assert bench.said == ["c waits for ever: for b, which waits for a, which waits for it"]
    assert not bench.waiting.may_come()
    bench.put("other")
    bench.waiting.note(bench.mirror.refresh(time.monotonic()))
    assert bench.waiting.may_come()
    assert bench.ids() == ["other"]
    path = bench.queue.directory(QUEUED) / "b"
    path.write_bytes(render(Task(id="b", command="x", after=(Dependency("other", "any"),))))
    assert bench.ids() == []
    assert bench.waiting.may_come()
    bench.move("other", QUEUED, DONE)
    assert bench.ids() == ["b"]
    assert len(bench.said) == 1


def test_a_broken_queue_dooms_nobody(bench: Bench) -> None:
    bench.put("child", after=(Dependency("nobody"),))
    (bench.queue.path / ".paddock-queue").unlink()
    for later in range(5):
        assert bench.next(later=float(later)) is None


def test_what_does_not_fit_delays_nobody_and_comes_when_there_is_room(tmp_path: Path) -> None:
    most = Slots(2, ("0", "1"))
    bench = Bench(tmp_path / "q", most)
    bench.put("big", gpus=2, priority=9)
    bench.put("small1", gpus=1)
    bench.put("small2")
    busy = Slots(1, ("1",))
    assert bench.ids(busy) == ["small1", "small2"]
    assert bench.ids(most) == ["big"]


def test_what_never_fits_is_said_once_and_not_waited_for(bench: Bench) -> None:
    bench.put("big", gpus=8)
    assert bench.ids() == []
    assert bench.ids() == []
    assert bench.said == ["waits: big: it needs more than this worker has (8 GPUs)"]
    assert not bench.waiting.may_come()
    bench.put("t1")
    bench.next()
    assert bench.waiting.may_come()


def test_a_file_that_is_no_task_stays_and_is_named_once_until_it_is_mended(bench: Bench) -> None:
    path = bench.queue.directory(QUEUED) / "thesis.tex"
    path.write_text("\\begin{document}")
    assert bench.ids() == []
    assert bench.ids() == []
    assert len(bench.said) == 1
    assert "is no task" in bench.said[0]
    assert not bench.waiting.may_come()
    path.write_bytes(render(Task(id="x", command="x")))
    assert bench.ids() == ["thesis.tex"]


def test_a_strangers_file_and_a_link_are_left_alone(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_bytes(render(Task(id="x", command="x")))
    os.symlink(tmp_path / "elsewhere", bench.queue.directory(QUEUED) / "t1")
    if os.geteuid() == 0:
        bench.put("t2")
        os.chown(bench.queue.file(Place(QUEUED, "t2")), 12345, -1)
    assert bench.ids() == []
    assert all("t1" in line or "somebody else" in line for line in bench.said)


def test_a_file_that_everybody_may_write_is_left_alone_until_it_is_not(bench: Bench) -> None:
    bench.put("t1")
    file = bench.queue.file(Place(QUEUED, "t1"))
    file.chmod(0o666)
    assert bench.ids() == []
    assert "everybody" in bench.said[0]
    assert "everybody" in bench.queue.distrust(Place(QUEUED, "t1"))
    file.chmod(0o664)
    assert bench.queue.distrust(Place(QUEUED, "t1")) == ""


def test_an_edit_counts_also_while_it_waits(bench: Bench) -> None:
    bench.put("p1")
    bench.move("p1", QUEUED, PAUSED)
    bench.put("child", after=(Dependency("p1"),))
    assert bench.ids() == []
    bench.queue.file(Place(QUEUED, "child")).write_bytes(render(Task(id="child", command="y")))
    candidate = bench.next()
    assert candidate is not None
    assert candidate.file.task.command == "y"


def test_what_rests_is_not_offered_before_its_time_and_then_is(bench: Bench) -> None:
    bench.put("t1")
    candidate = bench.next()
    assert candidate is not None
    bench.waiting.put_aside(candidate, "no disk", 30.0)
    bench.waiting.again("t1")
    assert bench.next() is None
    assert 0 < bench.waiting.pause(time.monotonic()) <= 30.0
    assert bench.next(later=31.0) is not None


def test_one_that_another_worker_took_is_skipped(bench: Bench) -> None:
    bench.put("t1")
    bench.put("t2")
    bench.waiting.note(bench.mirror.refresh(time.monotonic()))
    assert bench.queue.claim(Place(QUEUED, "t1"), Token("other", 1))
    found = bench.waiting.next(ONE, time.monotonic())
    assert found is not None
    assert found.place.id == "t2"


def test_a_thousand_blocked_tasks_are_read_once(bench: Bench) -> None:
    bench.put("p1")
    bench.move("p1", QUEUED, PAUSED)
    bench.queue.put([Task(id=f"a{n:04}", command="x", after=(Dependency("p1"),)) for n in range(1000)])
    bench.put("runs")
    end = time.monotonic() + 60
    while (found := bench.next()) is None and time.monotonic() < end:
        pass
    assert found is not None
    assert found.place.id == "runs"
    assert bench.waiting.pause(time.monotonic()) > 60, "nothing is looked at again until something happens"
    bench.move("p1", PAUSED, DONE)
    found = bench.next()
    assert found is not None
    assert found.place.id == "a0000"


def test_what_is_no_plain_file_is_named_and_keeps_nobody(bench: Bench) -> None:
    directory = bench.queue.directory(QUEUED)
    (directory / "a-directory").mkdir()
    (directory / "a-link").symlink_to("/etc/passwd")
    os.mkfifo(directory / "a-pipe")
    assert bench.next() is None
    assert not bench.waiting.may_come(), "a worker that does not persist leaves"
    assert sorted(bench.said) == [
        f"queued/a-{kind}: is no plain file, and is left alone" for kind in ("directory", "link", "pipe")
    ]

"""The queue's files: nothing lost, one winner."""

from __future__ import annotations

import os
import resource
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

from paddock.errors import HomeError, NotFound, Refused, UsageError
from paddock.queue.directory import DirectoryQueue, find_queue
from paddock.queue.entry.submission import submit, submit_all
from paddock.queue.lifecycle import ACTIVE, DONE, QUEUED, Place, Token, ended
from paddock.queue.task import Attempt, Task, render_attempt


@pytest.fixture
def queue(tmp_path: Path) -> DirectoryQueue:
    found = DirectoryQueue(tmp_path / "a queue")
    found.prepare()
    return found


def test_what_is_put_is_found_with_its_priority(queue: DirectoryQueue) -> None:
    queue.put([Task(id="t1", command="x"), Task(id="t2", command="y", priority=5)])
    found = queue.list()
    assert found.sure and not found.strangers
    assert sorted(found.places) == [Place(QUEUED, "t1"), Place(QUEUED, "t2", 5)]
    assert queue.read(Place(QUEUED, "t2", 5)).task.command == "y"
    assert os.listdir(queue.path / ".submit") == []


def test_more_tasks_can_be_put_at_once_than_files_can_be_open(queue: DirectoryQueue) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(soft, 1024), hard))
    try:
        queue.put([Task(id=f"t{n}", command="x") for n in range(1500)])
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert len(queue.list([QUEUED]).places) == 1500
    assert os.listdir(queue.path / ".submit") == []


def _claim_all(path: str, worker: int) -> list[str]:
    queue = DirectoryQueue(Path(path))
    return [p.id for p in queue.list([QUEUED]).places if queue.claim(p, Token(f"w{worker}", 1))]


def test_of_many_workers_one_gets_each_task(queue: DirectoryQueue) -> None:
    queue.put([Task(id=f"t{n}", command="x") for n in range(200)])
    with ProcessPoolExecutor(4) as pool:
        won = list(pool.map(_claim_all, [str(queue.path)] * 8, range(8)))
    everything = [task for tasks in won for task in tasks]
    assert sorted(everything) == sorted(f"t{n}" for n in range(200))
    assert len(queue.list([ACTIVE]).places) == 200


def test_a_task_goes_through_its_states_and_keeps_its_history(queue: DirectoryQueue) -> None:
    queue.put([Task(id="t1", command="x", priority=2)])
    token = Token("w", 1)
    mine = queue.claim(Place(QUEUED, "t1", 2), token)
    assert mine == Place(ACTIVE, "t1", 2, token)
    assert queue.claim(Place(QUEUED, "t1", 2), Token("other", 1)) is None
    fence = queue.read(mine).fence
    queue.append(mine, render_attempt(Attempt(number=1, worker="w", outcome="done", tail="bye"), fence))
    assert queue.move(mine, ended(mine, DONE))
    found = queue.read(Place(DONE, "t1"))
    assert found.attempts[0].tail == "bye"


def test_a_queue_that_went_away_is_not_an_empty_queue(queue: DirectoryQueue) -> None:
    assert queue.list().sure
    (queue.path / ".paddock-queue").unlink()
    assert not queue.list().sure
    os.rename(queue.path, queue.path.with_name("gone"))
    assert not queue.list().sure


def test_a_mark_that_a_full_disk_left_empty_is_mended(queue: DirectoryQueue) -> None:
    """Otherwise no removal is ever believed again, and no worker that is to leave ever leaves."""
    (queue.path / ".paddock-queue").write_bytes(b"")
    assert not queue.list().sure
    queue.prepare()
    assert queue.list().sure


def test_a_queue_that_everybody_may_write_is_refused(queue: DirectoryQueue) -> None:
    os.chmod(queue.directory(QUEUED), 0o777)
    with pytest.raises(Refused, match="chmod o-w"):
        queue.prepare()


def test_a_directory_that_is_no_queue_is_refused_and_untouched(tmp_path: Path, home) -> None:
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter1.tex").write_text("x")
    with pytest.raises(UsageError, match=r"is no queue: it holds chapter1\.tex"):
        submit("echo", queue=tmp_path / "thesis", home=home, snapshot=False)
    assert os.listdir(tmp_path / "thesis") == ["chapter1.tex"]
    with pytest.raises(NotFound, match="no queue in"):
        DirectoryQueue(tmp_path / "nowhere").require()


@pytest.mark.parametrize("layout", ["queued", "tasks/queued"])
def test_roachs_queues_are_read_in_both_layouts(tmp_path: Path, layout: str) -> None:
    old = tmp_path / "old"
    (old / layout).mkdir(parents=True)
    (old / layout / "task_20250101_000000_1").write_text("true\n---\necho hi")
    (old / layout / "notes.txt~").write_text("mine")
    queue = DirectoryQueue(old)
    queue.prepare()
    found = queue.list()
    assert [p.id for p in found.places] == ["task_20250101_000000_1"]
    assert found.strangers == ["queued/notes.txt~"]
    assert queue.read(found.places[0]).task.command == "echo hi"


def test_files_of_strangers_are_not_trusted(queue: DirectoryQueue) -> None:
    queue.put([Task(id="t1", command="x")])
    assert not queue.distrust(Place(QUEUED, "t1"))
    os.symlink("/etc/passwd", queue.directory(QUEUED) / "t2")
    assert queue.distrust(Place(QUEUED, "t2"))
    if os.geteuid() == 0:
        os.chown(queue.file(Place(QUEUED, "t1")), 12345, -1)
        assert queue.distrust(Place(QUEUED, "t1"))


def test_submit_gives_back_a_check_that_becomes_true(home, tmp_path: Path) -> None:
    first = submit("echo one", home=home, snapshot=False)
    queue = find_queue("default", home)
    assert os.system(str(first)) != 0
    place = queue.list().places[0]
    mine = queue.claim(place, Token("w", 1))
    assert mine is not None and queue.move(mine, ended(mine, DONE))
    assert os.system(str(first)) == 0
    # As another task's check it becomes a dependency, so that a failed parent does not block for ever.
    second = submit("default", "echo two", f"test -f /x && {first}", home=home, snapshot=False)
    assert [str(d) for d in second.task.after] == [f"success:{first.id}"]
    assert second.task.check == "test -f /x"


def test_ids_sort_by_submission(home) -> None:
    ids = [s.id for s in submit_all([{"cmd": "x", "snapshot": False}] * 50, home=home)]
    assert ids == sorted(ids) and len(set(ids)) == 50


@pytest.mark.parametrize(
    ("about", "words"),
    [
        ({"cmd": " "}, "no command"),
        ({"cmd": "a\0b"}, "zero byte"),
        ({"cmd": "x", "gpus": -1}, "gpus=-1"),
        ({"cmd": "x", "mem": "lots"}, "no amount of memory"),
        ({"cmd": "x", "timeout": "soon"}, "no time span"),
        ({"cmd": "x", "after": ["\n"]}, "no dependency"),
        ({"cmd": "x", "n_workers": 0}, "1 or more"),
        ({"cmd": "x", "priority": 10**9}, "no priority"),
        ({"cmd": "x", "priority": 1.5}, "no priority"),
        ({"cmd": "x", "chk": "a\0b"}, "check contains a zero byte"),
        ({"cmd": "\ud800"}, "half of a character"),
        ({"cmd": "x", "env": {"A": "b\0"}}, "variable A contains a zero byte"),
        ({"cmd": "x", "env": {"A=B": "c"}}, "cannot be the name"),
        ({"cmd": "x", "env": "A=b"}, "no mapping"),
        ({"cmd": "x", "tags": 5}, "no tags"),
        ({"cmd": "x", "config": [1]}, "no mapping"),
        ({"cmd": "x", "name": 5}, "no text"),
        ({"cmd": "x", "after": 5}, "no list of tasks"),
        ({"cmd": "x", "after": [None]}, "no dependency"),
        ({"cmd": "x", "cwd": "/not/there"}, "no directory"),
    ],
)
def test_a_wrong_task_is_a_sentence_and_nothing_is_written(home, about: dict[str, object], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        submit_all([{"cmd": "fine", "snapshot": False}, {**about, "snapshot": False}], home=home)
    assert find_queue("default", home).list().places == []


def test_two_queues_or_two_checks_are_one_too_many(home) -> None:
    with pytest.raises(UsageError, match="two queues"):
        submit("echo", "out/step=1.pt", queue="cluster", home=home)
    with pytest.raises(UsageError, match="two checks"):
        submit("cluster", "echo", "true", chk="false", home=home)
    assert not home.queues.exists()


def test_what_is_edited_between_two_submits_is_what_the_second_one_runs(home, tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    codes = []
    for number in range(3):
        config.write_text(f"lr: {number}\n")
        codes.append(submit("cat config.yaml", cwd=tmp_path, home=home).task.code)
    assert len(set(codes)) == 3 and all(codes)
    one, other = submit_all([{"cmd": "true", "cwd": tmp_path}] * 2, home=home)
    assert one.task.code == other.task.code == codes[-1]


def test_code_that_the_disk_does_not_take_is_a_sentence_and_nothing_is_submitted(home, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("print()\n")
    home.prepare()
    home.code.mkdir(exist_ok=True)
    (home.code / "objects").write_text("a file where a directory should be")
    with pytest.raises(HomeError, match="nothing was submitted"):
        submit("python train.py", cwd=tmp_path, home=home)
    assert find_queue("default", home).list().places == []
    assert submit("python train.py", cwd=tmp_path, home=home, snapshot=False).state() == "queued"


@pytest.mark.parametrize("where", [5, b"/x"])
def test_what_cannot_name_a_queue_is_refused(home, where: object) -> None:
    with pytest.raises(UsageError, match="no queue"):
        submit("true", queue=where, home=home, snapshot=False)  # type: ignore[arg-type]

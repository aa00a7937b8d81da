from __future__ import annotations

import contextlib
import errno
import os
from pathlib import Path
from typing import Any

import pytest

from paddock.queue.task import Task
from paddock.record.layout import Home
from paddock.work.attempts.codetree import work_directory


class Shop:
    """A snapshot that was restored before, and runs that begin with it."""

    def __init__(self, directory: Path) -> None:
        self.home, self.cache, self.project = Home(directory / "home"), directory / "cache", directory / "project"
        self.tree = self.cache / "code" / "d1"
        for folder in (self.tree / "lib", self.project / "data"):
            folder.mkdir(parents=True)
        (self.tree / "train.py").write_text("print(1)")

    def begin(self, name: str, digest: str = "d1", inside: str = "", cache: Path | None = None) -> Path:
        run = self.home.runs / name
        run.mkdir(parents=True, exist_ok=True)
        facts: dict[str, Any] = {"code": {"root": str(self.project)}}
        task = Task(id=name, command="true", code=digest, cwd=str(self.project / inside), facts=facts)
        return Path(work_directory(task, self.home, str(run), cache or self.cache))

    def add(self, *paths: str, at: Path | None = None) -> None:
        """Files of the snapshot, or elsewhere."""
        for path in paths:
            file = (at or self.tree) / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(path)


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path)


def links(directory: Path) -> dict[str, str]:
    return {entry.name: os.readlink(entry.path) for entry in os.scandir(directory)}


def test_a_task_sees_its_code_and_what_lies_beside_it(shop: Shop) -> None:
    tree, data = shop.tree, shop.project / "data"
    wanted = {"train.py": str(tree / "train.py"), "lib": str(tree / "lib"), "data": str(data)}
    assert [links(shop.begin(name)) for name in ("a", "b")] == [wanted, wanted]


def test_tasks_with_the_same_code_share_the_links_to_it(shop: Shop) -> None:
    first, second = shop.begin("a"), shop.begin("b")
    assert (first / "train.py").lstat().st_ino == (second / "train.py").lstat().st_ino


@pytest.mark.parametrize("left", ["file", "link", "directory", "nothing"])
def test_what_a_task_put_in_the_place_of_its_code_is_not_the_next_ones(left: str, shop: Shop) -> None:
    mine = shop.begin("a") / "train.py"
    mine.unlink()
    if left == "file":
        mine.write_text("my own")
    elif left == "link":
        mine.symlink_to("/etc/passwd")
    elif left == "directory":
        mine.mkdir()
    assert links(shop.begin("b"))["train.py"] == str(shop.tree / "train.py")


def test_other_code_gets_links_of_its_own(shop: Shop) -> None:
    shop.begin("a")
    (shop.cache / "code" / "d2").mkdir()
    (shop.cache / "code" / "d2" / "train.py").write_text("print(2)")
    assert (shop.begin("b", "d2") / "train.py").read_text() == "print(2)"


def test_an_attempt_goes_on_filling_what_a_killed_one_has_left(shop: Shop) -> None:
    whole = links(shop.begin("a"))
    work = shop.home.runs / "b" / "work"
    work.mkdir(parents=True)
    (work / "lib").symlink_to(shop.tree / "lib")
    assert links(shop.begin("b")) == whole


def test_a_second_attempt_finds_what_the_first_has_made_of_its_code(shop: Shop) -> None:
    work = shop.begin("a")
    (work / "lib").unlink()
    (work / "made").write_text("by the first")
    assert sorted(entry.name for entry in shop.begin("a").iterdir()) == ["data", "made", "train.py"]


def test_a_snapshot_without_files_leaves_what_lies_beside_it(shop: Shop) -> None:
    (shop.cache / "code" / "d0").mkdir()
    assert [links(shop.begin(name, "d0")) for name in ("a", "a")] == [{"data": str(shop.project / "data")}] * 2


def test_a_snapshot_without_files_is_filled_on_too(shop: Shop) -> None:
    (shop.cache / "code" / "d0").mkdir()
    (shop.home.runs / "a" / "work").mkdir(parents=True)
    assert links(shop.begin("a", "d0")) == {"data": str(shop.project / "data")}


def test_data_beside_code_in_one_directory_is_seen(shop: Shop) -> None:
    shop.add("corpus/README.md", "corpus/raw/load.py", "src/model.py")
    shop.add("corpus/raw/big.bin", "src/__pycache__/model.pyc", at=shop.project)
    for name in ("a", "b"):
        work = shop.begin(name)
        assert sorted(os.listdir(work / "corpus" / "raw")) == ["big.bin", "load.py"]
        assert (work / "corpus" / "raw" / "load.py").resolve() == shop.tree / "corpus" / "raw" / "load.py"
        assert (work / "corpus" / "raw" / "big.bin").resolve() == shop.project / "corpus" / "raw" / "big.bin"
        assert os.readlink(work / "src") == str(shop.tree / "src"), "what is all code needs one link"
        assert sorted(os.listdir(work)) == ["corpus", "data", "lib", "src", "train.py"]
    assert sorted(os.listdir(shop.home.runs / "a")) == ["work"], "nothing is left of the filling"


def test_a_task_writes_to_the_directory_it_runs_in_and_to_one_that_is_kept_for_it(shop: Shop) -> None:
    shop.add("jobs/night/train.py", "results/.gitkeep")
    here = shop.begin("a", inside="jobs/night")
    (here / "out.txt").write_text("mine")
    (here / "../../results/score.json").write_text("mine")
    assert (here / "../../data").resolve() == shop.project / "data"
    assert (here / "train.py").read_text() == "jobs/night/train.py"
    assert sorted(os.listdir(shop.tree / "jobs" / "night")) == ["train.py"]
    assert sorted(os.listdir(shop.tree / "results")) == [".gitkeep"]
    again = shop.begin("a", inside="jobs/night")
    assert (again / "out.txt").read_text() == "mine", "a second attempt finds what the first has written"


@pytest.mark.parametrize("inside", ["", "jobs"])
def test_an_attempt_elsewhere_has_its_snapshot_there(shop: Shop, inside: str) -> None:
    shop.add("jobs/a.py", "last.py")
    shop.begin("a", inside=inside)
    (shop.home.runs / "a" / "work" / "last.py").unlink()
    (shop.home.runs / "a" / "work" / "last.py").write_text("its own")
    elsewhere = shop.tree.parent.parent.rename(shop.cache.parent / "scratch")
    shop.begin("a", inside=inside, cache=elsewhere)
    work = shop.home.runs / "a" / "work"
    assert (work / "train.py").read_text() == "print(1)"
    assert (work / "jobs" / "a.py").read_text() == "jobs/a.py"
    assert (work / "last.py").read_text() == "its own"


def test_links_that_the_disk_refuses_are_not_left_out(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """With names that it has links for already a full disk takes the code, but not what lies beside it."""
    shop.begin("a")
    (shop.project / "more").mkdir()
    real = os.symlink

    def refuse(target: str, link: str) -> None:
        if target.endswith("/more"):
            raise OSError(errno.ENOSPC, "No space left on device")
        real(target, link)

    monkeypatch.setattr(os, "symlink", refuse)
    with pytest.raises(OSError, match="No space"):
        shop.begin("b")


def test_a_kill_leaves_nothing_of_another_task_as_the_code(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = shop.begin("a") / "train.py"
    mine.unlink()
    mine.write_text("my own")

    def killed(path: str) -> None:
        raise SystemExit

    with monkeypatch.context() as patched, contextlib.suppress(SystemExit):
        patched.setattr(os, "unlink", killed)
        shop.begin("b")
    assert (shop.begin("b") / "train.py").read_text() == "print(1)"

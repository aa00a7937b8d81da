from __future__ import annotations

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

    def begin(self, name: str, digest: str = "d1") -> Path:
        run = self.home.runs / name
        run.mkdir(parents=True)
        facts: dict[str, Any] = {"code": {"root": str(self.project)}}
        task = Task(id=name, command="true", code=digest, cwd=str(self.project), facts=facts)
        return Path(work_directory(task, self.home, str(run), self.cache))


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

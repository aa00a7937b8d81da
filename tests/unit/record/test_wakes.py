"""One descriptor tells many of many directories."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from paddock.record.wake import Change
from paddock.record.wakes import Wakes


@pytest.fixture
def wakes() -> Wakes[str]:
    return Wakes(".told")


def test_each_is_told_of_its_own_directories_and_of_shared_ones(wakes: Wakes[str], tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.mkdir(), two.mkdir()
    assert wakes.watch("a", {str(one)}) and wakes.watch("b", {str(one), str(two)})
    (tmp_path / "x").touch()
    (tmp_path / "x").rename(one / "x")
    (two / ".hidden").touch()
    os.mkdir(two / ".x.told")
    x = Change(str(one), "x", True, True)
    assert wakes.read() == {"a": [x], "b": [x, Change(str(two), ".x.told", True, False)]}
    assert wakes.read() == {}
    wakes.watch("b", {str(two)})
    (one / "x").unlink()
    assert wakes.read() == {"a": [Change(str(one), "x", False)]}
    wakes.close()


def test_a_directory_that_goes_is_told_by_the_one_above_or_makes_them_look_everywhere(
    wakes: Wakes[str], tmp_path: Path
) -> None:
    root, below = tmp_path / "root", tmp_path / "root" / "below"
    below.mkdir(parents=True)
    wakes.watch("a", {str(root), str(below)})
    below.rmdir()
    assert wakes.read() == {"a": [Change(str(root), "below", False)]}
    assert set(wakes.watched("a")) == {str(root)}
    root.rename(tmp_path / "away")
    assert wakes.read() == {"a": None}
    (tmp_path / "away" / "x").touch()  # is nobody's any more
    assert wakes.read() == {}
    wakes.close()


def test_one_in_the_place_of_another_makes_them_look_everywhere(wakes: Wakes[str], tmp_path: Path) -> None:
    below = tmp_path / "below"
    below.mkdir()
    wakes.watch("a", {str(tmp_path), str(below)})
    below.rmdir()
    below.mkdir()
    assert wakes.read() == {"a": None}
    assert wakes.watch("a", {str(tmp_path), str(below)})
    (below / "x").touch()
    assert wakes.read() == {"a": [Change(str(below), "x", True), Change(str(below), "x", True)]}
    wakes.close()


def test_what_is_gone_needs_no_watch(wakes: Wakes[str], tmp_path: Path) -> None:
    assert wakes.watch("a", {str(tmp_path / "never")})
    assert set(wakes.watched("a")) == set()
    wakes.close()
    assert not wakes.watch("a", {str(tmp_path)})

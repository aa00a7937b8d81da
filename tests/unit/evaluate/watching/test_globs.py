"""Patterns: which directories fit, and where another may appear."""

from __future__ import annotations

import glob
from collections.abc import Callable
from pathlib import Path

import pytest

from paddock.evaluate.watching.globs import Gathering, expand, path_of


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    for name in ("a/ckpt", "b/ckpt", "b/deep/er/ckpt", "c", ".hidden/ckpt", "lr=[0.1]/ckpt"):
        (tmp_path / "runs" / name).mkdir(parents=True)
    (tmp_path / "runs" / "file").touch()
    (tmp_path / "runs" / "b" / "circle").symlink_to(tmp_path / "runs")
    return tmp_path / "runs"


def teller(told: list[str]) -> Callable[[list[str]], list[str]]:
    def tell(paths: list[str]) -> list[str]:
        told.extend(paths)
        return []

    return tell


@pytest.mark.parametrize(
    "pattern", ["*/ckpt", "*", "?/ck*", "[ab]/ckpt", "b/deep/*/ckpt", ".*/ckpt", "*/nothing", "lr=*/*"]
)
def test_the_same_fit_as_in_a_shell(runs: Path, pattern: str) -> None:
    wanted = sorted(path for path in glob.glob(f"{runs}/{pattern}") if Path(path).is_dir())
    assert expand(f"{runs}/{pattern}")[0] == wanted


def test_two_stars_are_any_depth_and_no_circle(runs: Path) -> None:
    found = [str(Path(path).relative_to(runs)) for path in expand(f"{runs}/**/ckpt")[0]]
    assert found == ["a/ckpt", "b/ckpt", "b/deep/er/ckpt", "lr=[0.1]/ckpt"]


def test_only_where_one_may_appear_is_watched(runs: Path) -> None:
    _, places = expand(f"{runs}/*/ckpt")
    assert places == {str(runs), str(runs / "c")}


def test_each_is_told_once_when_it_is_there(runs: Path) -> None:
    told: list[str] = []
    gathering = Gathering(f"{runs}/*/ckpt", expand(f"{runs}/*/ckpt")[0], teller(told))
    gathering.look()
    assert told == []
    (runs / "c" / "ckpt").mkdir()
    gathering.look({str(runs / "c")}, (), {str(runs / "c" / "log.txt")})
    assert told == []  # a file is no news
    gathering.look({str(runs / "c")}, (), {str(runs / "c" / "ckpt")})
    gathering.look()
    assert told == [str(runs / "c" / "ckpt")]


def test_a_path_is_awaited_where_its_next_part_is_missing(runs: Path) -> None:
    told: list[str] = []
    path = f"{runs}/new/[1]/ckpt"
    gathering = Gathering(glob.escape(path), (), teller(told))
    assert (gathering.directory, path_of(glob.escape(path)), path_of(f"{runs}/*")) == (path, path, "")
    for name in ("", "new", "new/[1]"):
        (runs / name).mkdir(exist_ok=True)
        gathering.look()
        assert (gathering.directories, told) == ({str(runs / name)}, [])
    (runs / "new/[1]/ckpt").mkdir()
    gathering.look()
    gathering.look()
    assert (gathering.directories, told) == (set(), [path])


def test_a_link_to_what_has_yet_to_be_made_is_awaited_where_it_leads(runs: Path) -> None:
    told: list[str] = []
    gathering = Gathering(f"{runs}/link", (), teller(told))
    gathering.look()
    (runs / "link").symlink_to(runs / "c" / "scratch" / "out")
    gathering.look({str(runs)}, (), {str(runs / "link")})
    assert gathering.directories == {str(runs), str(runs / "c")}
    (runs / "c" / "scratch" / "out").mkdir(parents=True)
    gathering.look({str(runs / "c")}, (), {str(runs / "c" / "scratch")})
    assert told == [f"{runs}/link"]


def test_one_that_is_called_as_the_pattern_is_meant_too(runs: Path) -> None:
    assert expand(f"{runs}/lr=[0.1]/ckpt")[0] == [f"{runs}/lr=[0.1]/ckpt"]


def test_one_that_cannot_be_had_at_once_is_told_of_again(runs: Path) -> None:
    told: list[list[str]] = []

    def appeared(paths: list[str]) -> list[str]:
        told.append(paths)
        return paths if len(told) == 1 else []

    gathering = Gathering(f"{runs}/c", (), appeared)
    assert gathering.look() is not None and not gathering.over
    assert gathering.look() is None and gathering.over
    gathering.look()
    assert told == [[f"{runs}/c"]] * 2

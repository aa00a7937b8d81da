"""Patterns: which directories fit, and where another may appear."""

from __future__ import annotations

import glob
from pathlib import Path

import pytest

from paddock.evaluate.watching.globs import Gathering, expand


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    for name in ("a/ckpt", "b/ckpt", "b/deep/er/ckpt", "c", ".hidden/ckpt", "lr=[0.1]/ckpt"):
        (tmp_path / "runs" / name).mkdir(parents=True)
    (tmp_path / "runs" / "file").touch()
    (tmp_path / "runs" / "b" / "circle").symlink_to(tmp_path / "runs")
    return tmp_path / "runs"


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
    gathering = Gathering(f"{runs}/*/ckpt", expand(f"{runs}/*/ckpt")[0], told.extend)
    gathering.look()
    assert told == []
    (runs / "c" / "ckpt").mkdir()
    gathering.look({str(runs / "c")}, (), {str(runs / "c" / "log.txt")})
    assert told == []  # a file is no news
    gathering.look({str(runs / "c")}, (), {str(runs / "c" / "ckpt")})
    gathering.look()
    assert told == [str(runs / "c" / "ckpt")]

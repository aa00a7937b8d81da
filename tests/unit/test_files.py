"""Files that are whole or absent."""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

from paddock import files, settings
from paddock.record.layout import find_home


def _put(path: str, number: int) -> bool:
    return files.write_once(Path(path), f"{number}".encode() * 1000)


def test_of_many_writers_at_once_one_wins_and_its_content_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "once"
    with ProcessPoolExecutor(4) as pool:
        wins = list(pool.map(_put, [str(path)] * 40, range(40)))
    assert wins.count(True) == 1
    assert path.read_bytes() == f"{wins.index(True)}".encode() * 1000
    assert os.listdir(tmp_path) == ["once"]


def test_without_hard_links_one_still_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError("no hard links here")

    monkeypatch.setattr(os, "link", refuse)
    path = tmp_path / "once"
    assert files.write_once(path, b"first")
    assert not files.write_once(path, b"second")
    assert path.read_bytes() == b"first"
    assert os.listdir(tmp_path) == ["once"]


def test_replace_leaves_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "a name"
    files.replace(path, b"old")
    files.replace(path, b"new")
    assert path.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["a name"]


def test_a_missing_directory_has_no_entries(tmp_path: Path) -> None:
    assert list(files.entries(tmp_path / "missing")) == []


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="Not a regular file"):
        files.read_from(tmp_path / "pipe", 0)


def test_what_somebody_else_has_put_where_everybody_may_is_not_found_upwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in /tmp: his queue would be ours, and his commands would run as us."""
    home, said, work = tmp_path / ".paddock", tmp_path / "paddock.toml", tmp_path / "work"
    home.mkdir()
    work.mkdir()
    said.write_text('queue = "redis://his"\n')

    def found() -> tuple[bool, bool]:
        return find_home(start=work).path == home, settings.settings_file(work) == said

    assert found() == (True, True)
    tmp_path.chmod(0o1777)
    assert found() == (True, True)
    if os.getuid():
        monkeypatch.setattr(os, "getuid", lambda: 12345)
    else:
        os.chown(home, 12345, -1)
        os.chown(said, 12345, -1)
    assert found() == (False, False)
    tmp_path.chmod(0o775)  # shared with some: they are trusted
    assert found() == (True, True)

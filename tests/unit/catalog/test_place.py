"""The index is kept on local disk."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from paddock.catalog import place
from paddock.record.layout import Home


def test_the_index_lies_in_the_cache_directory(home: Home, tmp_path: Path) -> None:
    found = place.locate(home, str(tmp_path / "c"))
    assert found is not None
    assert found.parent == tmp_path / "c" / "catalog"


def test_two_ways_to_one_home_share_an_index(home: Home, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(home.path)
    cache = str(tmp_path / "c")
    assert place.locate(Home(tmp_path / "link"), cache) == place.locate(home, cache)
    assert place.locate(Home(tmp_path / "other"), cache) != place.locate(home, cache)


def test_without_a_setting_the_users_cache_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert place.cache_directory() == tmp_path / "xdg" / "paddock"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative/is/ignored")
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    assert place.cache_directory() == tmp_path / "me" / ".cache" / "paddock"


def test_a_cache_that_cannot_be_made_is_replaced_by_a_private_directory(home: Home, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    found = place.locate(home, str(tmp_path / "file" / "cache"))
    assert found is not None
    assert found.parent.name == f"paddock-{os.getuid()}"
    assert found.parent.stat().st_mode & 0o077 == 0


def test_a_private_directory_that_is_not_private_is_not_used(tmp_path: Path) -> None:
    made = place.private_directory(tmp_path)
    assert made is not None
    made.chmod(0o777)
    assert place.private_directory(tmp_path) is None


def test_a_link_in_place_of_the_private_directory_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    (tmp_path / f"paddock-{os.getuid()}").symlink_to(tmp_path / "elsewhere")
    assert place.private_directory(tmp_path) is None

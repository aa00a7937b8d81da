"""Index files of homes that are gone."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import pytest

from paddock.catalog import abandoned
from paddock.catalog.catalog import Catalog
from paddock.record.layout import Home


@pytest.fixture
def lock(home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Of an index that nobody has used for two months."""
    monkeypatch.delenv("PADDOCK_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with Catalog.open(home) as catalog:
        catalog.refresh()
    (found,) = (path for path in abandoned.indexes() if tmp_path in path.parents)
    unused(found)
    return found


def unused(lock: Path) -> None:
    for part in lock.parent.iterdir():
        os.utime(part, (time.time() - 60 * 86_400,) * 2)


def test_the_index_of_a_home_that_is_there_stays(lock: Path) -> None:
    assert not abandoned.is_abandoned(lock)
    assert abandoned.remove(lock) == 0
    assert lock.with_suffix(".sqlite").exists()


def test_the_index_of_a_vanished_home_goes_after_a_month_without_use(home: Home, lock: Path) -> None:
    shutil.rmtree(home.path)
    assert abandoned.is_abandoned(lock)
    with Catalog.open(home):  # whoever uses it makes it young
        assert not abandoned.is_abandoned(lock)
    unused(lock)
    assert abandoned.remove(lock) > 0
    assert list(lock.parent.iterdir()) == []


def test_an_index_that_does_not_say_whose_it_is_goes_too(lock: Path) -> None:
    lock.write_bytes(b"")
    assert not abandoned.is_abandoned(lock)
    unused(lock)
    assert abandoned.remove(lock) > 0

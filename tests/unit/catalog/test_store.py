"""Deleting, damaging or outliving the index loses nothing."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from paddock.catalog import store as stored
from paddock.catalog.catalog import Catalog
from paddock.catalog.store import Store

Open = Callable[[], Catalog]


def fill(field: Any, opened: Open) -> Path:
    field.author("a1").rows(("loss",), [[i, i / 10] for i in range(50)]).end()
    with opened() as catalog:
        catalog.refresh()
        assert catalog.path is not None
        return catalog.path


def is_complete(catalog: Catalog) -> bool:
    return catalog.series(["a1"], "loss")["a1"].values.tolist() == [i / 10 for i in range(50)]


def test_an_index_is_read_again_by_the_next_process(field: Any, opened: Open) -> None:
    fill(field, opened)
    catalog = opened()
    assert catalog.refresh().bytes == 0
    assert is_complete(catalog)


def test_a_deleted_index_is_rebuilt(field: Any, opened: Open) -> None:
    fill(field, opened).unlink()
    catalog = opened()
    assert catalog.refresh().new == 1
    assert is_complete(catalog)


def test_a_file_that_is_no_database_is_replaced(field: Any, opened: Open) -> None:
    path = fill(field, opened)
    path.write_bytes(b"this is no database, whatever it is called" * 500)
    catalog = opened()
    catalog.refresh()
    assert is_complete(catalog)
    assert catalog.path == path


def test_an_empty_file_is_made_an_index(field: Any, opened: Open) -> None:
    path = fill(field, opened)
    path.write_bytes(b"")
    catalog = opened()
    catalog.refresh()
    assert is_complete(catalog)


@pytest.mark.parametrize("keep", [1000, 16384, 20000, 40000])
def test_a_damaged_index_is_rebuilt_when_the_damage_is_met(keep: int, field: Any, opened: Open) -> None:
    path = fill(field, opened)
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(keep)
        file.write(os.urandom(max(0, size - keep)))
    catalog = opened()
    catalog.refresh()
    assert [row.id for row in catalog.runs()] == ["a1"]
    assert is_complete(catalog)


def test_a_truncated_index_is_rebuilt(field: Any, opened: Open) -> None:
    path = fill(field, opened)
    os.truncate(path, path.stat().st_size // 2)
    catalog = opened()
    catalog.refresh()
    assert is_complete(catalog)


@pytest.mark.parametrize("version", [0, stored.VERSION + 1])
def test_an_index_of_another_version_is_rebuilt(version: int, field: Any, opened: Open) -> None:
    path = fill(field, opened)
    db = sqlite3.connect(path)
    db.execute(f"PRAGMA user_version = {version}")
    db.execute("CREATE TABLE from_another_time (x)")
    db.close()
    catalog = opened()
    assert catalog.refresh().new == 1
    assert is_complete(catalog)


def test_an_index_that_was_deleted_while_it_is_open_is_still_answered_from(field: Any, opened: Open) -> None:
    path = fill(field, opened)
    catalog = opened()
    path.unlink()
    field.author("b1").end()
    catalog.refresh()
    assert {row.id for row in catalog.runs()} == {"a1", "b1"}


def test_without_a_place_the_index_is_in_memory(field: Any) -> None:
    field.author("a1").rows(("loss",), [[i, i / 10] for i in range(50)]).end()
    with Catalog(field.home, Store(None), 20.0) as catalog:
        catalog.refresh()
        assert catalog.path is None
        assert is_complete(catalog)


def test_an_index_that_cannot_be_written_is_left_for_one_in_memory(field: Any, opened: Open) -> None:
    path = fill(field, opened)
    catalog = opened()
    catalog._store.db.execute("PRAGMA max_page_count = 1")  # as a full disk does
    field.author("b1").rows(("loss",), [[i, i / 10] for i in range(20_000)]).end()
    catalog.refresh()
    assert catalog.path is None
    assert path.exists()
    assert {row.id for row in catalog.runs()} == {"a1", "b1"}
    assert is_complete(catalog)


def test_the_first_to_find_damage_rebuilds_and_the_second_takes_that(field: Any, opened: Open) -> None:
    fill(field, opened)
    first, second = opened(), opened()
    first._store.rebuild()
    first.refresh()
    inode = first._store.inode
    second._store.rebuild()
    assert second._store.inode == inode
    assert is_complete(second)

"""Store: objects and series under keys."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

import paddock
from paddock.errors import NotFound, RunExists, UsageError


def test_what_was_saved_is_loaded() -> None:
    store = paddock.Store.init(project="toys")
    things = {
        "numbers": {"acc": 0.9, "n": [1, 2]},
        "deep/er/text": "ü",
        "raw": b"\0\1",
        "array": np.arange(6, dtype=np.float32).reshape(2, 3),
        "nan": float("nan"),
    }
    for key, thing in things.items():
        store.save(thing, key)
    again = paddock.Store(store.path)
    assert again.load("numbers") == things["numbers"]
    assert again.load("deep/er/text") == "ü"
    assert again.load("raw") == b"\0\1"
    assert np.array_equal(again.load("array"), things["array"])
    assert again.load("nan") != again.load("nan")
    assert again.ls() == sorted(things)
    assert again.ls("deep/*") == ["deep/er/text"]


def test_series_are_float64_with_steps_and_found_beside_longer_names() -> None:
    store = paddock.Store.init()
    for value in (0.1, 0.2, float("nan")):
        store.log("loss", value)
    store.log("loss.ema", 5.0)
    assert store.load("loss")[:2] == [0.1, 0.2]
    assert store.load("loss")[2] != store.load("loss")[2]
    assert store.load("loss.ema") == [5.0]


def test_nothing_is_overwritten_silently() -> None:
    store = paddock.Store.init()
    store.save(1, "x")
    with pytest.raises(RunExists, match="overwrite=True"):
        store.save(2, "x")
    store.save("text", "x", overwrite=True)
    assert store.load("x") == "text"
    assert store.ls() == ["x"]


@pytest.mark.parametrize("key", ["../x", "/etc/passwd", "", "a/../../b", ".hidden"])
def test_a_key_cannot_leave_the_store(key: str) -> None:
    store = paddock.Store.init()
    with pytest.raises(UsageError, match="cannot be a key"):
        store.save(1, key)


def test_a_missing_key_names_what_there_is() -> None:
    store = paddock.Store.init()
    store.save(1, "here")
    with pytest.raises(NotFound, match="There are: here"):
        store.load("there")


def test_all_stores_of_a_home_are_listed(home) -> None:
    ids = []
    for number in range(3):
        store = paddock.Store.init()
        store.save(number, "number")
        ids.append(store.run_id)
        paddock.finish()
    assert {name: store.load("number") for name, store in paddock.Store.iter()} == dict(zip(ids, range(3), strict=True))


def test_an_old_store_of_bin_files_is_read(tmp_path: Path) -> None:
    old = tmp_path / "old"
    (old / "train").mkdir(parents=True)
    (old / "train" / "loss.bin").write_bytes(struct.pack("<2f", 0.5, 0.25) + b"\1\2")
    store = paddock.Store(old)
    assert store.load("train/loss") == [0.5, 0.25]
    assert store.ls() == ["train/loss"]
    with pytest.raises(UsageError, match="for reading"):
        store.log("x", 1)


def test_an_object_that_no_format_holds_is_refused_with_a_sentence() -> None:
    pytest.importorskip("numpy")
    store = paddock.Store.init()
    with pytest.raises(UsageError, match="cannot be saved as JSON"):
        store.save(object(), "x")

"""Bytes <-> values."""

from __future__ import annotations

import datetime
import enum
import json
import math
import pathlib
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock import wire

scalars = st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | st.text()
documents = st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20)


@given(documents)
def test_plain_data_comes_back_as_it_was(value: Any) -> None:
    kept = wire.plain(value)
    assert not kept.lossy
    assert wire.loads(wire.dumps(kept.value)) == value


@given(st.dictionaries(st.text(), scalars, min_size=1))
def test_a_record_line_checks_and_any_other_line_does_not(values: dict[str, Any]) -> None:
    line = wire.record_line({"k": "config", "set": wire.plain(values).value})
    assert line.endswith(b"}\n") and line.count(b"\n") == 1
    found = wire.read_line(line[:-1])
    assert isinstance(found, dict) and wire.revive(found["set"]) == values


@given(st.binary(max_size=200))
def test_no_bytes_make_the_reader_raise(data: bytes) -> None:
    wire.read_line(data)


def test_nan_and_infinities_survive_in_records() -> None:
    back = wire.loads(wire.dumps(wire.plain({"a": [math.nan, math.inf], "b": -math.inf}).value))
    assert math.isnan(back["a"][0]) and back["a"][1] == math.inf and back["b"] == -math.inf


class Colour(enum.Enum):
    RED = "red"


@dataclass
class Data:
    x: int = 1


class Struct(msgspec.Struct):
    y: int = 2


class Loop(dict):  # type: ignore[type-arg]
    pass


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        ((1, 2), [1, 2]),
        ({3, 1}, [1, 3]),
        (Colour.RED, "red"),
        (Data(), {"x": 1}),
        (Struct(), {"y": 2}),
        (SimpleNamespace(a=Data()), {"a": {"x": 1}}),
        (pathlib.Path("/a b"), "/a b"),
        (datetime.date(2026, 11, 15), "2026-11-15"),
        (np.float32(0.5), 0.5),
        (np.int64(3), 3),
        (np.arange(3), [0, 1, 2]),
        ({1: {None: 2}}, {"1": {"None": 2}}),
        (2**70, str(2**70)),
        (b"raw\xff", "raw\\xff"),
    ],
)
def test_objects_of_many_makes_become_data(value: Any, kept: Any) -> None:
    found = wire.plain(value)
    assert found.value == kept
    assert found.lossy == []


def test_what_nothing_knows_is_kept_as_repr_and_named() -> None:
    loop = Loop()
    loop["self"] = loop
    found = wire.plain({"fine": 1, "odd": object(), "list": [object()], "loop": loop})
    assert found.value["fine"] == 1
    assert found.lossy[:2] == ["odd", "list[0]"]
    assert found.lossy[2].startswith("loop.self")
    wire.dumps(found.value)


@pytest.mark.parametrize(
    "value",
    [
        {"$float": "nan"},
        {"$float": "-inf"},
        {"$float": 3},
        {"$float": "abc"},
        {"$float": math.inf},
        {"$float": None, "b": 1},
        {"$dict": {"$float": "nan"}},
        {"$dict": {"$dict": 1}},
        {"$dict": 5},
        {"a": [{"$float": {"$float": "inf"}}]},
    ],
    ids=str,
)
def test_a_dict_that_looks_like_a_stand_in_comes_back_as_it_was(value: Any) -> None:
    once = wire.plain(value).value
    assert wire.loads(wire.dumps(once)) == value
    assert wire.loads(wire.dumps(once).decode()) == value
    assert wire.plain(once).value == once, "a second time changes nothing"


@pytest.mark.parametrize(
    "raw",
    [b'{"$float": "abc"}', b'{"$float": 3}', b'{"$float": null}', b'{"$float": ["nan"]}', b'{"$dict": {"a": 1}}'],
)
def test_what_stands_for_nothing_is_left_as_it_is(raw: bytes) -> None:
    assert wire.loads(raw) == json.loads(raw)

from __future__ import annotations

import math
from array import array

import pytest

from paddock.compare.align import align, band
from paddock.errors import UsageError
from paddock.model import Series


def series(points: dict[int, float], run: str = "r") -> Series:
    return Series(run, "loss", array("q", points), array("d", points.values()), array("d", [0.0] * len(points)))


A = series({0: 1.0, 2: 3.0, 4: 5.0})
B = series({0: 2.0, 1: 2.0, 4: 7.0, 6: 9.0})


def listed(values) -> list[float | None]:
    return [None if math.isnan(v) else v for v in values]


def test_the_union_has_every_step_and_nan_in_the_gaps():
    found = align({"a": A, "b": B})
    assert list(found.steps) == [0, 1, 2, 4, 6]
    assert listed(found.values["a"]) == [1.0, None, 3.0, 5.0, None]


def test_the_intersection_has_what_all_have():
    found = align({"a": A, "b": B}, "intersection")
    assert list(found.steps) == [0, 4]
    assert list(found.values["b"]) == [2.0, 7.0]


def test_the_last_value_holds_until_the_next():
    found = align({"a": series({2: 3.0}), "b": B}, "last")
    assert listed(found.values["a"]) == [None, None, 3.0, 3.0, 3.0]


def test_between_points_a_line_is_drawn_and_nothing_beyond_the_ends():
    found = align({"a": A, "b": B}, "linear")
    assert listed(found.values["a"]) == [1.0, 2.0, 3.0, 5.0, None]


def test_a_grid_can_be_named():
    assert list(align({"a": A}, "linear", [3, 1, 3]).values["a"]) == [2.0, 4.0]


def test_mean_and_spread_over_seeds_at_each_step():
    found = band(align({"a": A, "b": B}))
    assert list(found.n) == [2, 1, 1, 2, 1]
    assert found.mean[0] == 1.5 and found.std[0] == pytest.approx(math.sqrt(0.5))
    assert math.isnan(found.std[1])


def test_nothing_aligned_is_nothing():
    assert len(align({}).steps) == 0
    assert len(band(align({})).mean) == 0


def test_an_unknown_way_names_the_known():
    with pytest.raises(UsageError, match="union"):
        align({"a": A}, "cubic")

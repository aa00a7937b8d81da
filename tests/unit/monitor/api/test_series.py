"""Series over HTTP, and what is kept of a long one."""

from __future__ import annotations

import math
from array import array

from hypothesis import given
from hypothesis import strategies as st

from paddock.monitor.view.thinning import thinned, within
from tests.served import Server

FLOATS = st.floats(width=32) | st.just(math.nan) | st.sampled_from([math.inf, -math.inf])


@given(st.lists(FLOATS, min_size=1, max_size=300), st.integers(1, 50))
def test_the_least_and_the_greatest_the_ends_and_that_there_was_a_nan_are_kept(values: list[float], most: int) -> None:
    column = array("d", values)
    kept = thinned(column, 0, len(column), most)
    if kept is None:
        assert len(values) <= most
        return
    assert kept == sorted(set(kept)) and len(kept) <= max(1, most // 4) * 5
    shown = [values[at] for at in kept]
    assert kept[0] == 0 and kept[-1] == len(values) - 1
    known = [value for value in values if not math.isnan(value)]
    if known:
        assert min(known) in shown and max(known) in shown
    assert any(map(math.isnan, values)) == any(map(math.isnan, shown))


@given(st.lists(st.integers(-5, 5), max_size=20, unique=True).map(sorted), st.integers(-6, 6), st.integers(-6, 6))
def test_a_stretch_of_steps(steps: list[int], first: int, last: int) -> None:
    start, end = within(array("q", steps), first, last)
    assert steps[start:end] == [step for step in steps if first <= step <= last]


def test_whole_numbers_are_thinned_too() -> None:
    kept = thinned(array("q", [5, 9, 1, 5, 5, 5, 5, 5]), 0, 8, 4)
    assert kept == [0, 1, 2, 7]


def test_several_metrics_of_several_runs(shown: Server) -> None:
    found = shown.get("/api/v1/series?run=first&run=name-broken&run=live&metric=loss&metric=acc&points=0")["series"]
    by = {(one["run"], one["metric"]): one for one in found}
    assert set(by) == {("first", "loss"), ("broken", "loss"), ("live", "loss"), ("first", "acc")}
    assert by["first", "acc"]["steps"] == list(range(3000)) and by["first", "acc"]["values"][-1] == 29.99
    assert by["broken", "loss"]["values"] == [1.0, None, "inf", "-inf", 2.0]
    assert "times" not in by["live", "loss"]


def test_a_long_series_is_thinned_and_its_extremes_stay(shown: Server) -> None:
    (one,) = shown.get("/api/v1/series?run=first&metric=loss&points=100&times=true")["series"]
    assert one["count"] == 3000 and 50 <= len(one["steps"]) <= 125
    assert one["steps"][0] == 0 and one["steps"][-1] == 2999 and one["values"][0] == 1.0
    assert len(one["times"]) == len(one["steps"])


def test_a_stretch_and_then_all_of_its_points(shown: Server) -> None:
    for _ in range(2):  # the second time from what was kept
        (one,) = shown.get("/api/v1/series?run=first&metric=acc&first=10&last=12")["series"]
        assert one["steps"] == [10, 11, 12] and one["values"] == [0.1, 0.11, 0.12]


def test_what_is_not_there_is_a_sentence(shown: Server) -> None:
    for path, status, code in (
        ("/api/v1/series?run=first&metric=los", 404, "MetricNotFound"),
        ("/api/v1/series?run=nobody&metric=loss", 404, "RunNotFound"),
        ("/api/v1/series?metric=loss", 400, "UsageError"),
        ("/api/v1/series?run=first", 400, "UsageError"),
        ("/api/v1/series?run=first&metric=loss&first=x", 400, "UsageError"),
        ("/api/v1/series?run=first&metric=loss&first=99999999999999999999", 400, "UsageError"),
    ):
        found = shown.ask("GET", path)
        assert (found.status, found.error) == (status, code), path

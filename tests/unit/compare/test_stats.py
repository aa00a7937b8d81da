from __future__ import annotations

import math
import re
import statistics
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.compare.stats import _LOWER, _LOWER_PARTS, goal_of, pick, student_t95, summarize
from paddock.errors import UsageError
from paddock.model import MetricStat


def test_the_spread_is_that_of_a_sample():
    found = summarize([1.0, 2.0, 3.0, 4.0])
    assert (found.n, found.nan, found.mean, found.median, found.min, found.max) == (4, 0, 2.5, 2.5, 1.0, 4.0)
    assert found.std == pytest.approx(statistics.stdev([1, 2, 3, 4]))
    assert found.sem == pytest.approx(found.std / 2)
    assert found.ci95 == pytest.approx(found.sem * 3.1824)


def test_one_number_has_no_spread():
    found = summarize([2.0])
    assert (found.n, found.mean, found.std, found.sem, found.ci95) == (1, 2.0, None, None, None)


def test_numbers_that_are_the_same_have_no_spread():
    found = summarize([0.1, 0.1, 0.1])  # whose sum is not 0.3
    assert (found.mean, found.std, found.sem, found.ci95) == (0.1, 0.0, 0.0, 0.0)


def test_nan_is_counted_apart():
    found = summarize([1.0, math.nan, None, 3.0])
    assert (found.n, found.nan, found.mean) == (2, 2, 2.0)
    assert summarize([math.nan]).mean is None
    assert summarize([]).n == 0


def test_infinities_make_no_exception():
    assert summarize([1.0, math.inf]).mean == math.inf
    assert math.isnan(summarize([-math.inf, math.inf]).mean)


@given(st.lists(st.floats(-1e100, 1e100), min_size=2, max_size=50))
def test_the_mean_lies_between_the_extremes(values):
    found = summarize(values)
    slack = 1e-9 * max(abs(v) for v in values)
    assert found.min - slack <= found.mean <= found.max + slack
    assert found.std >= 0


@pytest.mark.parametrize(("freedom", "expected"), [(1, 12.7062), (30, 2.0423), (40, 2.0211), (120, 1.9799)])
def test_student_t_is_that_of_the_tables(freedom, expected):
    assert student_t95(freedom) == pytest.approx(expected, abs=2e-4)


@pytest.mark.parametrize(
    ("metric", "goal"),
    [
        ("loss", "min"),
        ("val/loss", "min"),
        ("valLoss", "min"),
        ("train_xloss", "min"),
        ("WER", "min"),
        ("test.perplexity", "min"),
        ("error_rate", "min"),
        ("acc", "max"),
        ("val/f1", "max"),
        ("reward", "max"),
    ],
)
def test_a_name_suggests_what_is_better(metric, goal):
    assert goal_of(metric) == goal


def test_a_defined_goal_beats_the_name():
    stat = MetricStat(0.3, 3, 0.1, 1, 0.9, 2, 4)
    assert pick("loss", stat, "best") == 0.1
    assert pick("loss", stat, "best", {"loss": "max"}) == 0.9
    assert [pick("loss", stat, which) for which in ("last", "min", "max")] == [0.3, 0.1, 0.9]
    with pytest.raises(UsageError, match="best, last"):
        pick("loss", stat, "median")


def test_the_board_takes_the_same_words_for_what_is_better_when_lower():
    source = (Path(__file__).parents[3] / "web/src/text/goal.ts").read_text()
    words, parts = source.split("const PARTS = ")
    assert {word for text in re.findall(r'"([a-z ]+)"', words) for word in text.split()} == _LOWER
    assert tuple(re.findall(r'"(\w+)"', parts.split("]")[0])) == _LOWER_PARTS

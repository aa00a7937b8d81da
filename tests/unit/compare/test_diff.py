from __future__ import annotations

import math
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from paddock.compare.diff import MISSING, diff, diff_packages, differing_keys


def test_only_what_differs_is_shown_with_dotted_keys():
    rows = diff([{"lr": 1, "model": {"name": "a", "depth": 3}}, {"lr": 1, "model": {"name": "b", "depth": 3}}])
    assert [(row.key, row.values) for row in rows] == [("model.name", ("a", "b"))]


def test_everything_can_be_asked_for_and_says_what_is_equal():
    rows = diff([{"a": 1, "b": 2}, {"a": 1, "b": 3}], every=True)
    assert [(row.key, row.equal) for row in rows] == [("a", True), ("b", False)]


def test_missing_is_not_null():
    (row,) = diff([{"a": None}, {}])
    assert row.values == (None, MISSING)
    assert diff([{"a": None}, {"a": None}]) == []


def test_lists_are_compared_as_values():
    (row,) = diff([{"a": [1, 2]}, {"a": [1, 3]}])
    assert row.values == ([1, 2], [1, 3])


def test_numbers_are_equal_as_numbers_but_true_is_not_one():
    assert diff([{"a": 1}, {"a": 1.0}]) == []
    assert len(diff([{"a": 1}, {"a": True}])) == 1
    assert diff([{"a": math.nan}, {"a": math.nan}]) == []


def test_an_empty_mapping_is_a_value():
    (row,) = diff([{"a": {}}, {"a": {"b": 1}}])[:1]
    assert row.key == "a" and row.values == ({}, MISSING)


def test_three_runs_stand_side_by_side():
    (row,) = diff([{"a": 1}, {"a": 2}, {"a": 1}])
    assert row.values == (1, 2, 1)


def test_seeds_do_not_tell_experiments_apart():
    configs = [{"lr": 1, "seed": 0, "data": {"split_seed": 1}}, {"lr": 2, "seed": 1, "data": {"split_seed": 2}}]
    assert differing_keys(configs) == ["lr", "seed", "data.split_seed"]
    assert differing_keys(configs, seeds=False) == ["lr"]


def test_packages_differ_by_version_and_presence():
    rows = diff_packages([{"torch": "2.1", "zope.interface": "1"}, {"torch": "2.2"}])
    assert [(row.key, row.values) for row in rows] == [("torch", ("2.1", "2.2")), ("zope.interface", ("1", MISSING))]


CONFIGS = st.lists(
    st.dictionaries(
        st.sampled_from(["lr", "a.b", "a", "seed"]),
        st.sampled_from([0, 1, 1.0, True, None, "x", [1], [1.0], {"b": 1}, {"b": {"c": 2}}, {}, float("nan")]),
    ),
    max_size=5,
)


@given(CONFIGS)
def test_the_keys_that_differ_are_those_of_the_diff(configs: list[dict[str, Any]]) -> None:
    assert differing_keys(configs) == [row.key for row in diff([config for config in configs if config])]


def test_a_run_with_very_many_keys_costs_the_others_nothing() -> None:
    """Comparisons are counted because time depends on the machine."""
    asked = 0

    class Counted(int):
        def __eq__(self, other: object) -> bool:
            nonlocal asked
            asked += 1
            return int(self) == other

        __hash__ = int.__hash__

    wide = {f"k{i}": Counted(i) for i in range(10_000)}
    found = differing_keys([{**wide, "lr": Counted(0)}, *({"lr": Counted(i)} for i in range(200))])
    assert found == [*wide, "lr"] and asked < 500

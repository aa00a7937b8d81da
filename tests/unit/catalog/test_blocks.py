"""Rows of a journal become columns."""

from __future__ import annotations

import math
from array import array
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from paddock.catalog.blocks import Table, folded, joined, shifted, tabulate, unfolded


def columns(*rows: list[Any]) -> list[tuple[Any, ...]]:
    """Of rows a second apart."""
    return list(zip(*[(step, 1000 * i, *rest) for i, (step, *rest) in enumerate(rows)], strict=True))


def tabulated(rows: list[tuple[Any, ...]], opened: float = 0.0) -> Table:
    return tabulate(rows, 1, opened, range(len(rows[0])))


def test_whole_numbers_stay_whole_numbers() -> None:
    table = tabulated(columns([1, 3], [2, -(2**63)]))
    assert table.values[0].typecode == "q"
    assert table.values[0].tolist() == [3, -(2**63)]


def test_one_fraction_makes_a_column_of_floats() -> None:
    table = tabulated(columns([1, 3], [2, 0.5]))
    assert table.values[0].typecode == "d"
    assert table.values[0].tolist() == [3.0, 0.5]


def test_a_number_too_large_for_64_bits_makes_a_column_of_floats() -> None:
    table = tabulated(columns([1, 3], [2, 2**64 - 1]))
    assert table.values[0].typecode == "d"
    assert table.values[0][1] == float(2**64)


def test_truth_is_one_and_zero() -> None:
    table = tabulated(columns([1, True], [2, False]))
    assert (table.values[0].typecode, table.values[0].tolist()) == ("q", [1, 0])
    assert [type(value) for value in (table.marks[0].last, table.marks[0].min, table.marks[0].max)] == [int, int, int]


def test_null_is_nan_and_infinities_are_values() -> None:
    table = tabulated(columns([1, None], [2, "inf"], [3, "-inf"], [4, 1]))
    values = table.values[0].tolist()
    assert math.isnan(values[0])
    assert values[1:] == [math.inf, -math.inf, 1.0]
    assert (table.marks[0].min, table.marks[0].min_step) == (-math.inf, 3)
    assert (table.marks[0].max, table.marks[0].max_step) == (math.inf, 2)


def test_a_last_nan_is_none() -> None:
    mark = tabulated(columns([1, 0.5], [2, None])).marks[0]
    assert (mark.last, mark.last_step, mark.min, mark.max, mark.n) == (None, 2, 0.5, 0.5, 2)


def test_nothing_but_nan_has_no_least_value() -> None:
    mark = tabulated(columns([1, None])).marks[0]
    assert (mark.last, mark.min, mark.max, mark.n) == (None, None, None, 1)


def test_times_are_seconds_since_the_epoch() -> None:
    assert tabulated(columns([1, 1], [2, 1]), 500.0).times.tolist() == [500.0, 501.0]


def test_the_last_value_is_that_of_the_highest_step_and_of_its_last_writing() -> None:
    mark = tabulated(columns([5, 0.1], [9, 0.2], [9, 0.3], [7, 0.4])).marks[0]
    assert (mark.last, mark.last_step, mark.last_time) == (0.3, 9, 2.0)


def test_steps_that_fall_or_repeat_are_noticed() -> None:
    assert tabulated(columns([1, 1], [2, 1])).rising
    assert not tabulated(columns([1, 1], [1, 1])).rising
    assert not tabulated(columns([2, 1], [1, 1])).rising


def test_rows_without_a_proper_step_or_time_are_damaged() -> None:
    steps, times, values = columns([1, 1], ["x", 1], [2**70, 1], [1.5, 1], [3, 1])
    table = tabulated([steps, (*times[:4], None), values])
    assert table.steps.tolist() == [1]
    assert table.damaged == 4


def test_the_lines_of_rows_that_are_left_out_go_with_them() -> None:
    table = tabulate(columns([1, 0.1], ["x", 1], [3, 0.3]), 1, 0.0, [10, 20, 30])
    assert (list(table.lines), table.marks[0].last_line) == ([10, 30], 30)


def test_lines_that_follow_each_other_take_no_room() -> None:
    for lines in (array("q", range(7, 12)), array("q", [7, 9, 10, 11, 12])):
        assert list(unfolded(*folded(lines), len(lines))) == list(lines)
    assert folded(range(7, 12)) == (7, None)
    assert folded(array("q", range(7, 12))) == (7, None)
    assert list(shifted(range(3), 7)) == [7, 8, 9] and list(shifted([0, 2], 7)) == [7, 9]


def test_stretches_that_follow_each_other_are_one_range() -> None:
    assert joined(range(0), range(3, 5)) == range(3, 5)
    assert joined(range(3, 5), range(5, 9)) == range(3, 9)
    assert list(joined(range(3, 5), range(6, 8))) == [3, 4, 6, 7]
    assert list(joined(range(3, 5), array("q", [5, 9]))) == [3, 4, 5, 9]


def test_rows_of_another_length_are_damaged() -> None:
    table = tabulated(columns([1, 2, 3], [2, 2, 3]))
    assert (len(table.steps), len(table.values), table.damaged) == (0, 1, 2)


NUMBERS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.sampled_from(["inf", "-inf"])
)


@given(st.lists(st.tuples(st.integers(-(2**63), 2**63 - 1), NUMBERS), min_size=1))
def test_every_value_that_a_row_can_hold_is_kept(pairs: list[tuple[int, Any]]) -> None:
    table = tabulated(columns(*map(list, pairs)))
    assert table.steps.tolist() == [step for step, _ in pairs]
    assert table.damaged == 0
    for (_, given_value), kept in zip(pairs, table.values[0], strict=True):
        if given_value is None:
            assert math.isnan(kept)
        elif isinstance(given_value, int) and abs(given_value) > 10**308:
            assert math.isinf(kept) or kept == float(given_value)
        else:
            assert kept == given_value or kept == float(given_value)

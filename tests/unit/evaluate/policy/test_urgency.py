"""The newest first: priorities among those that wait."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from paddock.evaluate.policy.standing import Standing
from paddock.evaluate.policy.urgency import urgencies

NOW = 1_800_000_000.0


def at(step: int | None, found: float = NOW) -> Standing:
    return Standing(f"k{step}", step, f"{step}.pt", found)


@given(st.lists(st.integers(0, 2**62), unique=True, max_size=40))
def test_of_those_that_come_together_the_newest_step_goes_first(steps: list[int]) -> None:
    found = urgencies([at(step) for step in steps], [], NOW)
    assert sorted(steps, key=lambda step: found[f"k{step}"]) == sorted(steps)


@given(st.lists(st.integers(0, 10_000), unique=True, min_size=1, max_size=30))
def test_each_that_comes_in_order_goes_before_all_that_wait(steps: list[int]) -> None:
    waiting: list[tuple[Standing, int]] = []
    for step in sorted(steps):
        priority = urgencies([at(step)], waiting, NOW)[f"k{step}"]  # all in the same second
        assert all(priority > other for _, other in waiting)
        waiting.append((at(step), priority))


def test_an_older_one_that_comes_late_waits_behind_the_newer() -> None:
    waiting = [(at(10), -1000), (at(30), -500)]
    assert -1000 < urgencies([at(20)], waiting, NOW)["k20"] < -500
    assert urgencies([at(5)], waiting, NOW)["k5"] < -1000


def test_the_newest_of_one_training_does_not_always_wait_for_another_with_larger_steps() -> None:
    first = urgencies([at(1_000_000)], [], NOW)["k1000000"]
    assert urgencies([at(10)], [], NOW + 60)["k10"] > first


@given(st.lists(st.integers(-5, 2**62), max_size=20), st.floats(0, 5e9))
def test_a_priority_fits_into_a_name_and_is_below_whatever_else_is_queued(steps: list[int], now: float) -> None:
    random.Random(0).shuffle(steps)
    found = urgencies([at(step) for step in steps], [(at(3), -999_999_999), (at(4), -1)], now)
    assert all(-999_999_999 <= priority <= -1 for priority in found.values())

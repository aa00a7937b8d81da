"""A worker leaves in time."""

from __future__ import annotations

from paddock.work.walltime import Walltime

HOUR = 3600.0


def test_without_an_end_anything_may_begin() -> None:
    assert Walltime().may_begin(1e9, timeout=1e9)


def test_nothing_is_begun_that_would_surely_be_given_back() -> None:
    time = Walltime(until=HOUR)
    assert time.may_begin(0.0)
    assert time.may_begin(0.0, timeout=HOUR - 1)
    assert not time.may_begin(10.0, timeout=HOUR)
    assert time.may_begin(HOUR - 61)
    assert not time.may_begin(HOUR - 59)


def test_a_short_life_is_not_all_margin() -> None:
    assert Walltime(until=5.0).may_begin(4.0)
    assert not Walltime(until=5.0).may_begin(4.9)


def test_before_the_machine_is_taken_away_tasks_have_their_grace() -> None:
    job = Walltime(end=HOUR, grace=30.0)
    assert job.over == job.last == HOUR - 40
    assert Walltime(until=60.0, end=HOUR).over == 60.0
    assert Walltime(until=60.0).last > 1e9, "who was only asked to leave may let its tasks finish"

"""Whether a run that lives gets on: decided from the times of its steps alone."""

from __future__ import annotations

import pytest

from paddock.monitor.now.stall import FLOOR_SECONDS, Pace, pace, silence


def test_ten_times_the_median_step_without_a_step_is_a_stall() -> None:
    steady = pace([float(second) for second in range(20)])
    assert steady.step_seconds == 1.0
    assert not steady.has_stalled(9.9)
    assert steady.has_stalled(10.1)


def test_a_few_seconds_are_never_a_stall_however_quick_the_steps_were() -> None:
    quick = pace([i / 1000 for i in range(50)])
    assert not quick.has_stalled(FLOOR_SECONDS - 0.1)
    assert quick.has_stalled(FLOOR_SECONDS + 0.1)


def test_one_slow_step_does_not_change_what_is_usual() -> None:
    times = [float(second) for second in range(30)]
    times += [times[-1] + 60 + second for second in range(30)]
    assert pace(times).step_seconds == 1.0


def test_a_validation_as_long_as_the_last_one_is_no_stall() -> None:
    """Ten seconds of steps, a minute of validation, again and again."""
    times = [start + step / 10 for start in (0, 70, 140) for step in range(100)]
    assert not pace(times).has_stalled(60)
    assert pace(times).has_stalled(100)


@pytest.mark.parametrize("times", [[], [1.0], [1.0, 2.0]])
def test_of_too_few_steps_nothing_is_said(times: list[float]) -> None:
    assert pace(times).limit is None and not pace(times).has_stalled(1e9)


def test_a_clock_that_was_set_back_makes_no_negative_step() -> None:
    assert pace([100.0, 101.0, 102.0, 50.0, 51.0, 52.0]).step_seconds == 1.0


def test_the_silence_of_another_host_is_told_by_its_own_clock() -> None:
    """Its clock is an hour ahead: its last beat came two seconds after its last step, and that is all we know."""
    assert silence(last=3600.0, seen=3602.0, now=None) == 2.0
    assert silence(last=100.0, seen=102.0, now=150.0) == 50.0
    assert Pace(1.0, 1.0, 100.0).has_stalled(silence(100.0, 102.0, 150.0))

"""How fast the code is read."""

from __future__ import annotations

import time

from paddock.record.worktree import pace
from paddock.record.worktree.pace import Pace


def rested(one: Pace) -> bool:
    start = time.monotonic()
    one.pause()
    return time.monotonic() - start >= pace.PAUSE_SECONDS


def test_it_rests_only_beside_a_training() -> None:
    one = Pace(time.monotonic() + 60)
    assert one._gentle is False
    one.ease(600)
    assert rested(one)
    one.hurry(30)
    assert one._gentle is False and not one.over


def test_beside_a_training_it_may_take_longer_and_at_the_end_it_may_not() -> None:
    one = Pace(time.monotonic() - 1)
    assert one.over
    one.ease(600)
    assert not one.over
    one.hurry(-1)
    assert one.over

"""People and kill -9 against live workers: lost 0, double 0, stuck 0."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.soak import soak
from tests.faults.storm import storm


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.long), pytest.param(3, marks=pytest.mark.long)])
def test_whatever_people_do_to_the_files_nothing_is_lost_double_or_stuck(tmp_path: Path, seed: int, long: bool) -> None:
    found, moves = storm(tmp_path, tasks=300 if long else 50, workers=3, seconds=60 if long else 5, seed=seed)
    assert found.faults == (0, 0, 0), (found, moves)
    assert found.failed == 0 and moves["mv"] > 50


def test_workers_and_guards_that_are_killed_at_random_lose_nothing(tmp_path: Path, long: bool) -> None:
    tasks, workers = (2_000, 8) if long else (100, 3)
    found, kills = soak(tmp_path, workers, tasks, every=0.2, seed=1, seconds=600 if long else 10)
    assert found.faults == (0, 0, 0), (found, kills)
    assert (found.done, found.failed) == (tasks, 0)
    assert sum(kills.values()) > 10

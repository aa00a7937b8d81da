"""People and kill -9 against live workers: lost 0, double 0, stuck 0."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.faults.storm import storm


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.long), pytest.param(3, marks=pytest.mark.long)])
def test_whatever_people_do_to_the_files_nothing_is_lost_double_or_stuck(tmp_path: Path, seed: int, long: bool) -> None:
    found, moves = storm(tmp_path, tasks=300 if long else 50, workers=3, seconds=60 if long else 3, seed=seed)
    assert found.faults == (0, 0, 0), (found, moves)
    assert found.failed == 0


def test_workers_and_guards_that_are_killed_at_random_lose_nothing(long: bool) -> None:
    """In a process of its own, because it forks."""
    size = ["--workers", "8", "--tasks", "2000"] if long else ["--workers", "3", "--tasks", "120", "--seconds", "10"]
    command = [sys.executable, "-m", "tests.faults.soak", "--seed", "1", "--json", *size]
    done = subprocess.run(command, stdout=subprocess.PIPE, timeout=1500, check=False)
    found = json.loads(done.stdout)
    assert (found["lost"], found["double"], found["stuck"], found["failed"]) == (0, 0, 0, 0), found
    assert found["done"] + found["given_up"] == found["tasks"] and sum(found["kills"].values()) > 10

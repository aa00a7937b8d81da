"""However often the watcher is killed, every checkpoint is evaluated, and once."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest


def storm(*options: str) -> dict[str, Any]:
    """In a process of its own, because it forks."""
    command = [sys.executable, "-m", "tests.faults.watch_storm", "--seed", "1", *options]
    done = subprocess.run(command, stdout=subprocess.PIPE, timeout=3600, check=False)
    found: dict[str, Any] = json.loads(done.stdout)
    assert [found[name] for name in ("missed", "double", "failed", "pins")] == [0, 0, 0, 0], found
    assert found["evaluated"] == found["checkpoints"], found
    return found


def test_kills_of_the_watcher_lose_and_repeat_nothing(long: bool) -> None:
    size = ("--checkpoints", "2000", "--kills", "200") if long else ("--checkpoints", "500", "--kills", "50")
    assert storm(*size)["kills"] == int(size[-1])


def test_two_watchers_of_one_directory_that_is_rotated_lose_and_repeat_nothing() -> None:
    storm("--checkpoints", "100", "--kills", "10", "--watchers", "2", "--keep", "5")


@pytest.mark.long
def test_ten_thousand_checkpoints_while_others_are_deleted() -> None:
    storm("--checkpoints", "10000", "--kills", "0", "--keep", "100")


@pytest.mark.long
def test_kills_of_the_watcher_of_a_real_worker_lose_and_repeat_nothing() -> None:
    storm("--checkpoints", "200", "--kills", "20", "--workers", "4")

"""An engine that is not there, on a machine that has none of its programs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest


@pytest.mark.parametrize(
    ("on", "said", "hint"),
    [
        ("slurm://gpu", "There is no s", "login node"),  # sbatch, and later squeue
        ("k8s://lab/team?image=any:1", "There is no kubectl", "Install it"),
    ],
)
def test_the_task_is_queued_and_why_it_waits_is_said(
    program: Any, tmp_path: Path, on: str, said: str, hint: str
) -> None:
    program.environment["PATH"] = str(tmp_path)
    found = program("submit", "-q", "--no-snapshot", "--on", on, "--", "true")
    assert found.code == 0, found.err
    assert said in found.err and hint in found.err and "The tasks are queued" in found.err
    (queue,) = program("status", "--json").json["queues"]
    ((task, why),) = [(one["id"], one["why"]) for one in queue["waiting"]]
    assert task == found.out.strip() and said in why

"""torchrun and mpirun themselves: whatever they start joins one run, by what they put into the environment."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

RANK = str(Path(__file__).with_name("rank.py"))
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2"]


def launch(home: Path, words: list[str], **more: str) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "PADDOCK_HOME": str(home), "PADDOCK_CAPTURE_CODE": "false", "OMP_NUM_THREADS": "1", **more}
    return subprocess.run(words, env=environ, capture_output=True, text=True, timeout=300)


def paddock(home: Path, *words: str) -> str:
    environ = {**os.environ, "PADDOCK_HOME": str(home)}
    command = [sys.executable, "-m", "paddock", *words]
    return subprocess.run(command, env=environ, capture_output=True, text=True, check=True).stdout


def runs(home: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(paddock(home, "ls", "--json"))["runs"]
    return found


def whole(home: Path) -> dict[str, Any]:
    (run,) = runs(home)
    assert set(run["metrics"]) == {"rank0", "rank1", "child0", "child1"}
    (bar,) = json.loads(paddock(home, "show", run["id"], "--json"))["progress"]
    assert (bar["done"], bar["total"], bar["state"]) == (40, 40, "done"), "a sum of both ranks' shares"
    logs = paddock(home, "logs", run["id"], "--logging")
    assert logs.count("a child") == 2 and "rank 0 of" in logs and "rank 1 of" in logs
    return run


def test_ranks_of_torchrun_write_one_run(tmp_path: Path) -> None:
    done = launch(tmp_path, [*TORCHRUN, RANK, "torch"])
    assert done.returncode == 0, done.stderr
    assert whole(tmp_path)["state"] == "finished"


def test_a_second_launch_is_another_run(tmp_path: Path) -> None:
    for _ in range(2):
        assert launch(tmp_path, [*TORCHRUN, RANK]).returncode == 0
    assert len(runs(tmp_path)) == 2


def test_a_rank_that_fails_fails_the_run(tmp_path: Path) -> None:
    assert launch(tmp_path, [*TORCHRUN, RANK, "fail"]).returncode != 0
    (run,) = runs(tmp_path)
    assert run["state"] == "failed"


@pytest.mark.skipif(shutil.which("mpirun") is None, reason="mpirun is not installed (openmpi-bin)")
def test_ranks_of_mpirun_write_one_run(tmp_path: Path) -> None:
    done = launch(tmp_path, [*MPIRUN, sys.executable, RANK])
    assert done.returncode == 0, done.stderr
    assert whole(tmp_path)["state"] == "finished"

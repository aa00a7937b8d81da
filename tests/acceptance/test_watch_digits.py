"""A real small training is watched while it runs: with a file for each checkpoint, and with a directory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.waiting import until

pytest.importorskip("sklearn")
EXAMPLES = Path(__file__).parents[2] / "examples"
EPOCHS = 3
LAYOUTS = {"files": (), "directories": ("--directories",)}


def test_every_checkpoint_of_a_training_has_its_score_at_its_step(program: Any) -> None:
    """Of two trainings at once, one of which writes files and the other directories."""
    (program.cwd / "out").mkdir()
    evaluator = ("--evaluator", f"{EXAMPLES / 'digits_eval.py'}:test", "--regex-filter", r"\.npz$")
    watch = program.start("watch", "out", *evaluator, "--num-eval-workers", "2", "--quiet-time", "1s", "--isolate")
    try:
        until(lambda: list(program.home.glob("watches/*/begun")) or watch.poll() is not None)
        trainings = [
            subprocess.Popen(
                [sys.executable, str(EXAMPLES / "digits.py"), f"--epochs={EPOCHS}", f"--out=out/{name}", *layout],
                cwd=program.cwd,
                env=program.environment,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            for name, layout in LAYOUTS.items()
        ]
        assert [training.wait() for training in trainings] == [0, 0]
        until(lambda: len(list(program.home.glob("queues/evaluation/done/*"))) == 2 * EPOCHS)
    finally:
        watch.terminate()
        watch.communicate(timeout=60)
    assert watch.returncode == 0
    runs = program("ls", "project=digits", "job_type!=eval", "--json").json["runs"]
    assert len(runs) == 2
    for run in runs:
        scored, validated = (program("series", run["id"], n).out.split()[2::2] for n in ("eval/test/acc", "val/acc"))
        assert scored == validated and len(scored) == EPOCHS
        assert run["metrics"]["eval/test/acc"]["last"] > 0.2  # it has learned something: by chance it would be 0.1
    evaluations = program("watch", "show", "out", "--json").json["evaluations"]
    assert {one["state"] for one in evaluations} == {"done"}

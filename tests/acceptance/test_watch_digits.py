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
EPOCHS = 4


@pytest.mark.parametrize("layout", [(), ("--directories",)], ids=["files", "directories"])
def test_every_checkpoint_of_a_training_has_its_score_at_its_step(program: Any, layout: tuple[str, ...]) -> None:
    out = program.cwd / "out"
    out.mkdir()
    evaluator = ("--evaluator", f"{EXAMPLES / 'digits_eval.py'}:test", "--regex-filter", r"\.npz$")
    watch = program.start("watch", "out", *evaluator, "--num-eval-workers", "2", "--quiet-time", "1s")
    try:
        until(lambda: list(program.home.glob("watches/*/begun")) or watch.poll() is not None)
        training = [sys.executable, str(EXAMPLES / "digits.py"), "--epochs", str(EPOCHS), "--out", "out", *layout]
        subprocess.run(training, cwd=program.cwd, env=program.environment, check=True, capture_output=True)
        until(lambda: len(list(program.home.glob("queues/evaluation/done/*"))) == EPOCHS)
    finally:
        watch.terminate()
        watch.communicate(timeout=60)
    assert watch.returncode == 0
    (run,) = program("ls", "project=digits", "job_type!=eval", "--json").json["runs"]
    scored, validated = (program("series", run["id"], name).out.split()[2::2] for name in ("eval/test/acc", "val/acc"))
    assert scored == validated and len(scored) == EPOCHS
    assert run["metrics"]["eval/test/acc"]["last"] > 0.3  # it has learned something: by chance it would be 0.1
    evaluations = program("watch", "show", "out", "--json").json["evaluations"]
    assert {one["state"] for one in evaluations} == {"done"}

"""`make demo`, with fewer epochs: a sweep is queued, trained, evaluated as it goes, and compared."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("sklearn")
DEMO = Path(__file__).parents[2] / "examples" / "demo.sh"


def test_the_demo_ends_with_a_comparison_of_what_was_trained_and_evaluated(program: Any) -> None:
    beside = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environ = {**program.environment, "PADDOCK_HOME": str(program.home), "PATH": beside, "EPOCHS": "6"}
    done = subprocess.run(["sh", str(DEMO)], env=environ, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "http://127.0.0.1:" in done.stdout
    rows = re.findall(
        r"^ *(0\.03|0\.3|1).* ± .* ± ", done.stdout, re.MULTILINE
    )  # val/acc and eval/test/acc, of two seeds
    assert rows == ["0.03", "0.3", "1"], done.stdout
    evaluated = list(program.home.glob("queues/*-evaluation/done/*"))
    assert len(evaluated) == 36  # six of each training

"""`make demo`, with fewer epochs: a sweep is queued, trained, evaluated as it goes, and compared."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.waiting import until

pytest.importorskip("sklearn")
DEMO = Path(__file__).parents[2] / "examples" / "demo.sh"


def test_the_demo_ends_with_a_comparison_of_what_was_trained_and_evaluated(program: Any) -> None:
    beside = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environ = {**program.environment, "PADDOCK_HOME": str(program.home), "PATH": beside, "EPOCHS": "6"}
    done = subprocess.run(["sh", str(DEMO)], env=environ, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "http://127.0.0.1:" in done.stdout and "\x1b" not in done.stdout  # this is no terminal
    rows = re.findall(
        r"^ *(0\.03|0\.3|1).* ± .* ± ", done.stdout, re.MULTILINE
    )  # val/acc and eval/test/acc, of two seeds
    assert rows == ["0.03", "0.3", "1"], done.stdout
    evaluated = list(program.home.glob("queues/*-evaluation/done/*"))
    assert len(evaluated) == 36  # six of each training


def test_ctrl_c_ends_all_that_the_demo_has_started_and_leaves_nothing_in_the_queues(program: Any) -> None:
    beside = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environ = {**program.environment, "PADDOCK_HOME": str(program.home), "PATH": beside, "EPOCHS": "100000"}
    ways: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "start_new_session": True}
    demo = subprocess.Popen(["sh", str(DEMO)], env=environ, text=True, **ways)
    assert demo.stdout is not None
    with demo.stdout as said:
        while "running: " not in (line := said.readline()):
            assert line, "it has ended"
        os.killpg(demo.pid, signal.SIGINT)  # as a terminal does
        rest = said.read()
    assert demo.wait(60) == 130, rest
    waiting = [path.name for state in ("queued", "active") for path in program.home.glob(f"queues/*/{state}/*")]
    assert waiting == []
    home = str(program.home)

    def left() -> list[list[str]]:
        return [
            p.info["cmdline"] for p in psutil.process_iter(["cmdline"]) if home in " ".join(p.info["cmdline"] or ())
        ]

    until(lambda: left() == [])

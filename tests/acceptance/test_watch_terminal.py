"""paddock watch on a real terminal: the live view, and its end by Ctrl-C."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.terminal import Terminal
from tests.acceptance.watched import QUICK, has_begun, prepare, save
from tests.waiting import until


@pytest.fixture
def out(program: Any) -> Path:
    return prepare(program)


def test_the_view_shows_what_is_evaluated_and_ctrl_c_says_what_is_left(program: Any, out: Path) -> None:
    terminal = Terminal(program, 80, 24, "watch", "out", "--evaluator", "metrics.py:slow", *QUICK)
    try:
        until(lambda: has_begun(program, terminal.process.pid))
        until(lambda: "latency" in terminal.text)
        assert not terminal.echoes()
        save(out / "step=41.pt")
        until(lambda: (program.cwd / "running").exists())
        until(lambda: re.search(r"out +41 +0 +1 +0 +0 +0", terminal.text))
        terminal.type(b"\x03")
        assert terminal.process.wait(60) == 0
        until(lambda: "goes on with them" in terminal.text)
        assert "1 evaluation left in the queue evaluation." in terminal.text
        assert "^C" not in terminal.text and terminal.echoes()
    finally:
        terminal.close()


def test_plain_prints_lines_and_no_view(program: Any, out: Path) -> None:
    terminal = Terminal(program, 80, 24, "watch", "out", "--evaluator", "metrics.py:acc", "--plain", *QUICK)
    try:
        until(lambda: has_begun(program, terminal.process.pid))
        save(out / "step=41.pt")
        until(lambda: "done out/step=41.pt acc: acc 0.1" in terminal.text)
        assert "latency" not in terminal.text
        terminal.type(b"\x03")
        assert terminal.process.wait(60) == 0
    finally:
        terminal.close()

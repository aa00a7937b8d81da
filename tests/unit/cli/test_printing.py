"""What is printed, on a terminal of some width and in a pipe."""

from __future__ import annotations

import math
import sys
from array import array
from types import FrameType
from typing import Any

import pytest

from paddock.cli.command import Session
from paddock.cli.output import Output
from paddock.cli.series import _print
from paddock.model import Series


def made(metric: str, points: dict[int, float]) -> Series:
    return Series("a1", metric, array("q", points), array("d", points.values()), array("d", points), {})


def test_an_id_is_never_broken_into_lines_however_narrow_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    out = Output()
    out.terminal, out.width = True, 40  # type: ignore[misc]
    row = ["k7f3m2qxab", "a name that is long", "a project", "finished", "23h ago", "2h05m"]
    out.table(["id", "name", "project", "state", "created", "duration"], [row])
    assert "k7f3m2qxab" in capsys.readouterr().out


def test_one_metric_is_printed_as_aligned_columns(capsys: pytest.CaptureFixture[str]) -> None:
    _print(Session(Output(), None), {"loss": made("loss", {-5: 0.25, 10: math.nan})}, False)
    assert capsys.readouterr().out == "step  loss\n  -5  0.25\n  10   nan\n"


def test_metrics_with_different_steps_leave_cells_empty(capsys: pytest.CaptureFixture[str]) -> None:
    found = {"loss": made("loss", {0: 0.25, 1: 0.5}), "日": made("日", {1: 7.0, 2: 8.0})}
    _print(Session(Output(), None), found, False)
    assert capsys.readouterr().out == "step  loss  日\n   0  0.25\n   1   0.5   7\n   2         8\n"
    _print(Session(Output(), None), found, True)
    assert capsys.readouterr().out == "step,loss,日\n0,0.25,\n1,0.5,7.0\n2,,8.0\n"


def test_a_point_costs_few_calls_to_print(capsys: pytest.CaptureFixture[str]) -> None:
    """A million points must not take a minute; calls are counted because time depends on the machine."""
    found = {"loss": made("loss", {step: step / 7 for step in range(10_000)})}
    calls = 0

    def count(_frame: FrameType, event: str, _argument: Any) -> None:
        nonlocal calls
        calls += event == "call"

    session = Session(Output(), None)
    before = sys.getprofile()
    sys.setprofile(count)
    try:
        _print(session, found, False)
    finally:
        sys.setprofile(before)
    assert len(capsys.readouterr().out.splitlines()) == 10_001
    assert calls < 30_000

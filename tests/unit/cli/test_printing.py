"""What is printed, on a terminal of some width and in a pipe."""

from __future__ import annotations

import json
import math
import sys
from array import array
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock import wire
from paddock.cli.command import Session
from paddock.cli.output import JSON, Cell, Output, json_value
from paddock.cli.queued import fitted_table
from paddock.cli.series import _print
from paddock.cli.shape import run_raw
from paddock.model import MetricStat, RunRow, Series


def made(metric: str, points: dict[int, float]) -> Series:
    return Series("a1", metric, array("q", points), array("d", points.values()), array("d", points), {})


def test_an_id_is_never_broken_into_lines_however_narrow_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    out = Output()
    out.terminal, out.width = True, 40  # type: ignore[misc]
    row = ["k7f3m2qxab", "a name that is long", "a project", "finished", "23h ago", "2h05m"]
    out.table(["id", "name", "project", "state", "created", "duration"], [row])
    assert "k7f3m2qxab" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("columns", "shown"),
    [(200, "id name loss acc host path"), (60, "id name loss acc path"), (45, "id name path")],
)
def test_a_table_that_is_too_wide_is_cut_then_loses_columns_and_is_not_broken(
    capsys: pytest.CaptureFixture[str], columns: int, shown: str
) -> None:
    out = Output()
    out.terminal, out.width = True, columns  # type: ignore[misc]
    row: list[Cell] = ["k7f3m2qxab", "a name that is long", "0.1234", "0.9876", "node1", "/data/runs/seed0/checkpoints"]
    headers = ["id", "name", "loss", "acc", "host", "path"]
    fitted_table(out, headers, [row], flexible=[1, 5], paths=[5], optional=[4, 3, 2])
    title, line = capsys.readouterr().out.splitlines()
    assert " ".join(title.split()) == shown
    assert len(line) <= columns and line.startswith("k7f3m2qxab") and line.rstrip().endswith("checkpoints")


def test_one_metric_is_printed_as_aligned_columns(capsys: pytest.CaptureFixture[str]) -> None:
    _print(Session(Output(), None), {"loss": made("loss", {-5: 0.25, 10: math.nan})}, False)
    assert capsys.readouterr().out == "step  loss\n  -5  0.25\n  10   nan\n"


def test_metrics_with_different_steps_leave_cells_empty(capsys: pytest.CaptureFixture[str]) -> None:
    found = {"loss": made("loss", {0: 0.25, 1: 0.5}), "日": made("日", {1: 7.0, 2: 8.0})}
    _print(Session(Output(), None), found, False)
    assert capsys.readouterr().out == "step  loss  日\n   0  0.25\n   1   0.5   7\n   2         8\n"
    _print(Session(Output(), None), found, True)
    assert capsys.readouterr().out == "step,loss,日\n0,0.25,\n1,0.5,7.0\n2,,8.0\n"


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | st.lists(inner).map(tuple),
)


@given(PLAIN)
def test_json_of_plain_data_is_the_same_by_the_short_way(value: Any) -> None:
    short = json_value([wire.shown(value) or value])
    assert wire.dumps(short, indent=2) == wire.dumps([json_value(value)], indent=2)


def test_what_the_short_way_cannot_say_takes_the_long_one() -> None:
    assert [wire.shown(value) for value in (math.inf, {"a": [-math.inf]}, 2**70, "\udcff", object())] == [None] * 5


def calls_of(work: Callable[[], Any]) -> int:
    """Calls are counted because time depends on the machine."""
    calls = 0

    def count(_frame: FrameType, event: str, _argument: Any) -> None:
        nonlocal calls
        calls += event == "call"

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
    return calls


def test_a_run_costs_few_calls_to_print_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    config = {f"key{i}": i for i in range(50)}
    stat = MetricStat(0.5, 9, 0.1, 3, math.nan, 0, 10)
    run = RunRow(id="a1", name="a", project="p", state="finished", created=1.0, config=config, metrics={"loss": stat})
    out = Output(JSON)
    assert calls_of(lambda: out.json({"runs": [run_raw(run, 2.0) for _ in range(1000)]})) < 15_000
    assert json.loads(capsys.readouterr().out)["runs"][999]["metrics"]["loss"]["max"] is None


def test_a_point_costs_few_calls_to_print(capsys: pytest.CaptureFixture[str]) -> None:
    """A million points must not take a minute."""
    found = {"loss": made("loss", {step: step / 7 for step in range(10_000)})}
    session = Session(Output(), None)
    assert calls_of(lambda: _print(session, found, False)) < 30_000
    assert len(capsys.readouterr().out.splitlines()) == 10_001

"""The page on the format is enough to write a reader: examples/read_run.py was, and agrees with the catalog.

The reader runs with `python -I -S`: not even the site packages are there, so it cannot lean on Paddock.
"""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from paddock.catalog.catalog import Catalog
from paddock.record.annotation import annotate
from paddock.record.layout import Home
from paddock.record.pack import pack

READER = Path(__file__).parents[2] / "examples" / "read_run.py"

FIRST = """
import math, os, signal
import paddock
run = paddock.init(id="run", name="odd", config={"lr": 0.1, "limits": {"high": math.inf}}, tags=["a", "b"])
run.config["lr"] = 0.2
run.summary.update({"best": math.nan, "word": "x"})
for step in range(200):
    value = [math.nan, math.inf, -math.inf, step / 7][step % 4]
    run.log({"loss": value, "count": step * 10**15, "flag": step % 2 == 0}, step=step)
run.log({"loss": -1.0, "count": 0, "flag": False}, step=3)     # late, and double
run.log({"nested": {"deep": {"x": 1}}}, step=-5)
for split in ("val", "test"):
    for step in range(5):
        run.log_metric("acc", {"top1": step / 10, "top5": step}, tags={"split": split, "k": 1}, step=step)
run.log_metric("acc", 0.5, step=7)
if os.fork() == 0:
    for step in range(5):
        run.log({"child": step, "loss": 1000.0 + step}, step=1000 + step)
    os._exit(0)
os.wait()
run.log_text("words", "hello, world")
os.kill(os.getpid(), signal.SIGKILL)
"""
SECOND = """
import sys
import paddock
run = paddock.init(id="run", resume="must")
assert run.attempt == 2 and run.step == 1005, run.step
for step in range(100, 300):
    run.log({"loss": float(step), "count": -step}, step=step)
run.config.update({"resumed": True})
run.name = "odder"
sys.exit(3)
"""
RANKS = """
import os
import paddock
run = paddock.init(id="ranks", resume="allow")
for step in range(10):
    run.log({"loss": step + 100 * run.rank, f"own{run.rank}": step}, step=step)
if run.rank == 1:
    raise ValueError("one of two")
"""


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PADDOCK_CAPTURE_CODE", "false")
    monkeypatch.setenv("PADDOCK_QUIET", "1")


@pytest.fixture
def execute(tmp_path: Path) -> Callable[..., int]:
    def run(source: str, **variables: str) -> int:
        script = tmp_path / "script.py"
        script.write_text(source)
        environment = {**os.environ, **variables}
        return subprocess.run([sys.executable, str(script)], env=environment, stderr=subprocess.DEVNULL).returncode

    return run


def read(home: Home, run_id: str) -> dict[str, Any]:
    """What the independent reader says."""
    command = [sys.executable, "-I", "-S", str(READER), str(home.runs / run_id)]
    found: dict[str, Any] = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return found


def agree(home: Home, run_id: str) -> dict[str, Any]:
    """The reader's answer, after it has been held against the catalog's."""
    theirs = read(home, run_id)
    with Catalog.open(home) as catalog:
        catalog.refresh()
        row = catalog.run(run_id)
        assert theirs["state"] == row.state
        for key in ("config", "summary"):
            assert _plain(theirs[key]) == _plain(getattr(row, key)), key
        assert sorted(theirs["tags"]) == sorted(row.tags)
        assert (theirs["name"], theirs["notes"], theirs["damaged"]) == (row.name, row.notes, row.damaged)
        labels = {f"{s['metric']}{{{_spelled(s['tags'])}}}" if s["tags"] else s["metric"] for s in theirs["series"]}
        assert labels == row.metrics.keys()
        for one in theirs["series"]:
            (ours,) = catalog.series([run_id], one["metric"], rank=one["rank"], tags=one["tags"]).values()
            assert one["steps"] == list(ours.steps)
            assert _plain(one["values"]) == _plain(list(ours.values)), one["metric"]
    return theirs


def _spelled(tags: dict[str, str]) -> str:
    return ",".join(f"{key}={value}" for key, value in sorted(tags.items()))


def _plain(value: Any) -> Any:
    """NaN as a word, so that it equals itself."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return "nan" if isinstance(value, float) and math.isnan(value) else value


def series(found: dict[str, Any], metric: str, rank: int = 0, **tags: str) -> dict[int, Any]:
    (one,) = [s for s in found["series"] if (s["metric"], s["rank"], s["tags"]) == (metric, rank, tags)]
    return dict(zip(one["steps"], one["values"], strict=True))


def test_a_killed_run_with_odd_values_tags_and_a_child(home: Home, execute) -> None:
    assert execute(FIRST) == -signal.SIGKILL
    found = agree(home, "run")
    assert found["state"] == "lost"
    assert found["config"] == {"lr": 0.2, "limits": {"high": math.inf}}
    loss = series(found, "loss")
    assert math.isnan(loss[0]) and loss[1] == math.inf and loss[2] == -math.inf
    assert loss[3] == -1.0 and loss[7] == 1.0 and loss[1004] == 1004.0
    assert series(found, "count")[199] == 199 * 10**15
    assert series(found, "acc/top1", split="val", k="1")[4] == 0.4
    assert series(found, "acc") == {7: 0.5}
    assert series(found, "nested/deep/x") == {-5: 1}
    assert series(found, "child") == {1000 + step: step for step in range(5)}


def test_the_later_attempt_counts(home: Home, execute) -> None:
    execute(FIRST)
    assert execute(SECOND) == 3
    annotate(home.run("run"), {"k": "tag", "add": ["c"], "remove": ["a"]})
    annotate(home.run("run"), {"k": "note", "text": "noted"})
    found = agree(home, "run")
    assert (found["state"], found["notes"], sorted(found["tags"])) == ("failed", "noted", ["b", "c"])
    assert found["config"]["resumed"] is True and found["config"]["lr"] == 0.2
    loss = series(found, "loss")
    assert loss[99] == 99 / 7 and loss[100] == 100.0 and loss[299] == 299.0


def test_a_packed_journal_reads_the_same(home: Home, execute) -> None:
    execute(FIRST)
    execute(SECOND)
    before = agree(home, "run")
    journals = sorted((home.runs / "run" / "journal").glob("*.jsonl"))
    for journal in journals[:2]:
        kept = journal.read_bytes()
        assert pack(journal) > 0
        assert _plain(agree(home, "run")) == _plain(before)
        journal.write_bytes(kept)  # as after a crash in the middle of packing: both are there
        assert _plain(agree(home, "run")) == _plain(before)
        journal.unlink()
    assert _plain(agree(home, "run")) == _plain(before)


@pytest.mark.parametrize("which", ["open", "columns", "row", "zeros", "tail"])
def test_damage_costs_the_same_here_and_there(home: Home, execute, which: str) -> None:
    execute(FIRST)
    journal = max((home.runs / "run" / "journal").glob("*.jsonl"), key=lambda path: path.stat().st_size)
    lines = journal.read_bytes().splitlines(keepends=True)
    kind = {"open": b'{"k":"open"', "columns": b'{"k":"columns"'}.get(which, b"[")
    at = next(number for number, line in enumerate(lines) if line.startswith(kind))
    if which == "zeros":
        lines[at] = bytes(len(lines[at]) - 1) + b"\n"
    elif which != "tail":
        lines[at] = lines[at].replace(b"0", b"1", 1)
    data = b"".join(lines)
    journal.write_bytes(data[:-10] if which == "tail" else data)
    found = read(home, "run") if which == "tail" else agree(home, "run")
    assert found["damaged"] == (0 if which == "tail" else 1)
    assert len(series(found, "loss")) == 200 + 5 - (which in ("row", "zeros"))


def test_ranks_are_series_of_their_own_and_a_failed_one_fails_the_run(home: Home, execute) -> None:
    execute(RANKS, RANK="0", WORLD_SIZE="2")
    execute(RANKS, RANK="1", WORLD_SIZE="2")
    found = agree(home, "ranks")
    assert found["state"] == "failed"
    assert series(found, "loss", rank=0)[9] == 9 and series(found, "loss", rank=1)[9] == 109
    assert series(found, "own1", rank=1)[9] == 9

"""Directories that are watched before their training has made them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.watched import QUICK, evaluations, prepare, save, until_states

ACC = ("--evaluator", "metrics.py:acc")


@pytest.fixture(autouse=True)
def place(program: Any) -> Path:
    prepare(program)
    return program.cwd


def test_it_is_evaluated_from_its_first_checkpoint_on_and_what_comes_with_it(program: Any, place: Path) -> None:
    process = program.start("watch", "run/ckpt", "otu", *ACC, *QUICK, "--json", "--num-eval-workers", "1")
    try:
        assert process.stdout is not None
        begun = json.loads(process.stdout.readline())
        assert begun["directories"] == []
        assert begun["remarks"] == [
            "run/ckpt does not exist yet, nor does run: it is watched as soon as it appears.",
            "otu does not exist yet: it is watched as soon as it appears. Did you mean out?",
        ]
        shown = program("watch", "show", "run/ckpt")
        assert (shown.code, "is not there yet" in shown.err) == (3, True)
        (place / "prepared").mkdir()
        save(place / "prepared" / "step=1.pt")
        (place / "run").mkdir()
        (place / "prepared").rename(place / "run" / "ckpt")
        assert json.loads(process.stdout.readline()) == {"event": "watching", "directories": [f"{place}/run/ckpt"]}
        save(place / "run" / "ckpt" / "step=2.pt", 2)
        until_states(program, "done", "done", where="run/ckpt")
        assert len(program("watch", "ls", "--json").json["globs"]) == 1  # the other one is awaited still
    finally:
        process.terminate()
        process.communicate(timeout=60)


def test_what_came_while_nobody_awaited_it_any_more_is_evaluated_too(program: Any, place: Path) -> None:
    begun = program("watch", "later", *ACC, *QUICK, "--detach", "--no-worker")
    assert begun.code == 0 and "later does not exist yet" in begun.err, begun.err
    assert "stopped: later" in program("watch", "stop", "later").out
    (place / "later").mkdir()
    save(place / "later" / "step=1.pt")
    assert program("watch", "later", *ACC, *QUICK, "--once").code == 0
    assert [(one["step"], one["state"]) for one in evaluations(program, "later")] == [(1, "pending")]


def test_without_new_ones_for_long_enough_it_is_not_awaited_any_more(program: Any) -> None:
    found = program("watch", "never", *ACC, *QUICK, "--stop-when", "idle=1s", "--plain", "--no-worker")
    assert (found.code, "the watch is over" in found.err) == (0, True), found.err

"""Directories that appear while they are watched for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.watched import QUICK, evaluations, prepare, save, until_states

ACC = ("--evaluator", "metrics.py:acc")


@pytest.fixture
def runs(program: Any) -> Path:
    prepare(program)
    (program.cwd / "runs").mkdir()
    return program.cwd / "runs"


def appear(runs: Path, name: str) -> None:
    (runs / name / "ckpt").mkdir(parents=True)
    save(runs / name / "ckpt" / "step=1.pt")


def test_they_are_watched_from_the_first_checkpoint_on_in_the_background_and_after_a_restart(
    program: Any, runs: Path
) -> None:
    (program.cwd / "paddock.toml").write_text(
        '[[watch]]\ndirectory = "runs/*/ckpt"\nevaluator = "metrics.py:acc"\nquiet-time = "0s"\n'
    )
    started = program("watch", "--detach", "--json")
    assert (started.code, started.json["watching"], len(started.json["globs"])) == (0, [], 1), started.err
    assert program("watch", "--detach", "--json").json["log"] is None  # it is kept already
    appear(runs, "a")
    until_states(program, "done", where="runs/a/ckpt")
    found = program("watch", "ls", "--json").json
    assert (len(found["globs"]), [one["watched"] for one in found["watches"]]) == (1, [True])
    assert program("watch", "stop", "runs/*/ckpt").code == 0
    assert program("watch", "stop", "runs/*/ckpt").code == 3
    appear(runs, "b")  # nobody watches
    assert program("watch", "runs/*/ckpt", *ACC, *QUICK, "--once").code == 0
    assert [one["step"] for one in evaluations(program, "runs/b/ckpt")] == [1]
    assert [one["state"] for one in evaluations(program, "runs/a/ckpt")] == ["done"]


def test_what_was_there_before_the_pattern_was_watched_is_passed_over_and_the_rest_is_not(
    program: Any, runs: Path
) -> None:
    appear(runs, "old")
    process = program.start("watch", "runs/*/ckpt", *ACC, *QUICK, "--json", "--num-eval-workers", "1")
    try:
        assert process.stdout is not None
        assert '"event":"watching"' in process.stdout.readline()
        appear(runs, "new")
        assert f'"directories":["{runs}/new/ckpt"]' in process.stdout.readline()
        until_states(program, "done", where="runs/new/ckpt")
        assert [one["state"] for one in evaluations(program, "runs/old/ckpt")] == ["skipped"]
    finally:
        process.terminate()
        process.communicate(timeout=60)


def test_without_any_that_fits_one_look_is_a_mistake(program: Any, runs: Path) -> None:
    for pattern in ("runs/*/ckpt", "nowhere/*/ckpt"):
        found = program("watch", pattern, *ACC, "--once")
        assert (found.code, "No directory fits" in found.err) == (2, True)


def test_a_directory_that_is_a_checkpoint_itself_is_not_taken_for_one_that_holds_them(program: Any) -> None:
    """Its optimizer and its random state would be evaluated, and it would not."""
    out = prepare(program)
    words = ("--evaluator", "metrics.py:acc", "--once")
    found = program("watch", "out/checkpoint-*", *words)  # there is none yet
    assert (found.code, "paddock watch out." in found.err) == (2, True)
    (out / "checkpoint-5").mkdir()
    save(out / "checkpoint-5" / "optimizer.pt")
    (out / "checkpoint-5" / "trainer_state.json").write_text("{}")
    for text, there in (
        ("out/checkpoint-*", "out"),
        ("out/*", "out"),
        ("out/checkpoint-5/", "out"),
        ("*/check*", "'*'"),
    ):
        found = program("watch", text, *words)
        assert (found.code, f"paddock watch {there}." in found.err) == (2, True), found.err
    (out / "checkpoint-6").mkdir()
    save(out / "checkpoint-6" / "step=1.pt")  # a directory of somebody's own
    assert program("watch", "out/checkpoint-6", *words).code == 0

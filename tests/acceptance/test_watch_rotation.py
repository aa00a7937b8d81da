"""Checkpoints that are taken away, or written over, while they wait and while they are evaluated."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from paddock.evaluate.origin.look import PINS
from tests.waiting import until

EVALUATOR = """
import os, time

def both(path):
    first = open(os.path.join(path, "model.bin")).read()
    if os.path.basename(os.path.dirname(os.path.dirname(path))) != ".paddock-pins":
        open("began", "w").close()
        while not os.path.exists("go"):
            time.sleep(0.02)
    return len(first) + len(open(os.path.join(path, "other.bin")).read())

def one(path):
    data = open(path).read()
    if not os.path.exists("began"):
        open("began", "w").close()
        while not os.path.exists("go"):
            time.sleep(0.02)
        data = open(path).read()
    return len(data)

def bad(path):
    raise ValueError("no")
"""


CUT = """
import atexit, os, time

def late(path):
    with open("calls", "a") as file:
        file.write("x")
    if "QUICK" not in os.environ:
        atexit.register(time.sleep, 600)  # it does not end, although all is said
    return 3
"""


@pytest.fixture
def out(program: Any) -> Path:
    (program.cwd / "metrics.py").write_text(EVALUATOR)
    (program.cwd / "out").mkdir()
    return program.cwd / "out"


def look(program: Any, name: str) -> None:
    found = program(
        *("watch", "out", "--once", "--eval-existing", "--quiet-time", "0s", "--evaluator", f"metrics.py:{name}"),
        *("--regex-filter", r"\.(pt|model)$"),
    )
    assert found.code == 0, found.err


def begin(program: Any) -> subprocess.Popen[str]:
    worker = program.start("worker", "evaluation", "--no-persist")
    until(lambda: (program.cwd / "began").exists() or worker.poll() is not None)
    assert worker.poll() is None, worker.communicate()
    return worker


def end(program: Any, worker: subprocess.Popen[str]) -> list[dict[str, Any]]:
    (program.cwd / "go").touch()
    worker.communicate(timeout=60)
    return program("watch", "show", "out", "--json").json["evaluations"]


def directory(path: Path) -> Path:
    path.mkdir()
    (path / "model.bin").write_text("12345")
    (path / "other.bin").write_text("123")
    return path


def test_a_directory_that_is_rotated_away_while_it_is_evaluated_is_evaluated_on_its_pin(
    program: Any, out: Path
) -> None:
    path = directory(out / "step-5.model")
    look(program, "both")
    worker = begin(program)
    shutil.rmtree(path)
    (shown,) = end(program, worker)
    assert (shown["state"], shown["values"]) == ("done", {"score": 8})
    assert not (out / PINS).exists()


def test_a_file_whose_name_is_taken_while_it_is_evaluated_gets_its_own_score(program: Any, out: Path) -> None:
    (out / "last.pt").write_text("one")
    look(program, "one")
    worker = begin(program)
    (out / "aside").write_text("another")
    (out / "aside").rename(out / "last.pt")
    (shown,) = end(program, worker)
    assert (shown["state"], shown["values"]) == ("done", {"score": 3})


def test_a_file_that_is_written_over_in_place_while_it_is_evaluated_has_no_score(program: Any, out: Path) -> None:
    (out / "last.pt").write_text("one")
    look(program, "one")
    worker = begin(program)
    (out / "last.pt").write_text("another")
    (shown,) = end(program, worker)
    assert (shown["state"], shown["values"]) == ("void", {})
    look(program, "one")  # and what it is now is evaluated by itself
    assert program("worker", "evaluation", "--no-persist").code == 0
    (_, second) = program("watch", "show", "out", "--json").json["evaluations"]
    assert (second["state"], second["values"]) == ("done", {"score": 7})


def test_one_that_is_deleted_while_it_waits_is_evaluated_on_its_pin(program: Any, out: Path) -> None:
    (program.cwd / "began").touch()
    (out / "step=1.pt").write_text("one")
    look(program, "one")
    (out / "step=1.pt").unlink()
    (shown,) = end(program, program.start("worker", "evaluation", "--no-persist"))
    assert (shown["state"], shown["values"]) == ("done", {"score": 3})
    assert not (out / PINS).exists()


def test_without_a_pin_it_is_missed_and_not_failed(program: Any, out: Path) -> None:
    (out / "step=1.pt").write_text("one")
    (out / "step=2.pt").write_text("more")
    look(program, "one")
    shutil.rmtree(out / PINS)  # as where no links can be made
    (out / "step=1.pt").unlink()
    (program.cwd / "began").touch()
    shown = end(program, program.start("worker", "evaluation", "--no-persist"))
    assert sorted((one["step"], one["state"], one["reason"]) for one in shown) == [
        (1, "missed", "it was deleted before it was evaluated"),
        (2, "done", ""),
    ]


def test_the_pins_of_what_failed_or_was_cancelled_are_released(program: Any, out: Path) -> None:
    (out / "step=1.pt").write_text("one")
    (out / "step=2.pt").write_text("two")
    look(program, "bad")
    (_, second) = sorted(os.listdir(program.home / "queues" / "evaluation" / "queued"))
    assert program("cancel", second, "-Q", "evaluation").code == 0
    assert program("worker", "evaluation", "--no-persist").code == 0
    assert len(os.listdir(out / PINS)) == 2
    keep = ("--evaluator", "metrics.py:bad", "--regex-filter", r"\.(pt|model)$")
    watch = program.start("watch", "out", "--no-worker", *keep)
    try:
        until(lambda: not (out / PINS).exists())
    finally:
        watch.terminate()
        watch.communicate(timeout=60)


def test_a_score_that_is_stored_is_not_computed_again_when_its_worker_died_just_then(program: Any, out: Path) -> None:
    (program.cwd / "metrics.py").write_text(CUT)
    (out / "step=1.pt").write_text("one")
    look(program, "late")
    worker = program.start("worker", "evaluation", "--no-persist", "--grace", "1s")
    until(lambda: list(program.home.glob("watches/*/ledger/*.result")))
    worker.terminate()
    worker.communicate(timeout=60)
    assert list(program.home.glob("queues/evaluation/queued/*"))
    assert program("worker", "evaluation", "--no-persist").code == 0
    (shown,) = program("watch", "show", "out", "--json").json["evaluations"]
    assert (shown["state"], (program.cwd / "calls").read_text()) == ("done", "x")
    assert program("rerun", shown["task"], "-Q", "evaluation").code == 0  # a person may have it again
    program("worker", "evaluation", "--no-persist", "--grace", "1s", env={"QUICK": "1"})
    assert (program.cwd / "calls").read_text() == "xx"

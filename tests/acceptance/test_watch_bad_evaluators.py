"""An evaluator that is wrong is refused at the start where that can be known, and is recorded with its reason else."""

from __future__ import annotations

import json
import math
import zipfile
from pathlib import Path
from typing import Any

import pytest

EVALUATORS = """
import os, sys, time

class Scalar:  # as of torch or numpy
    def __init__(self, value):
        self.value = value
    def item(self):
        return self.value

def raises(path):
    raise ValueError("no such class")

def exits(path):
    sys.exit(3)

def dies(path):
    os.kill(os.getpid(), 9)

def garbage(path):
    sys.stdout.buffer.write(bytes(range(256)) * 10)
    sys.stdout.flush()
    os.write(2, b"\\x1b]0;title\\x07 \\xff\\xfe")
    return 1

def nan(path):
    return {"acc": float("nan"), "loss": float("inf")}

def scalars(path):
    return {"acc": Scalar(0.5), "deep": {"n": Scalar(3)}, "array": Scalar([1, 2]), "note": "text"}

def text(path):
    return "fine"

def nothing(path):
    return None

def flaky(path):
    tries = os.path.join(os.path.dirname(__file__), "tries")
    with open(tries, "a") as file:
        file.write("x")
    if os.path.getsize(tries) < 3:
        raise OSError("not yet")
    return 7

def hangs(path):
    time.sleep(600)

no_function = 3
"""


@pytest.fixture
def evaluate(program: Any) -> Any:
    (program.cwd / "metrics.py").write_text(EVALUATORS)
    (program.cwd / "broken.py").write_text("import no_such_library\n\ndef acc(path): pass\n")
    (program.cwd / "wrong.py").write_text("def acc(path:\n")
    (program.cwd / "out").mkdir()
    with zipfile.ZipFile(program.cwd / "out" / "step=5.pt", "w") as file:
        file.writestr("data", "weights")

    def act(name: str, *options: str) -> dict[str, Any]:
        """What the ledger says of it in the end."""
        look = ("watch", "out", "--once", "--eval-existing", "--quiet-time", "0s")
        found = program(*look, "--evaluator", f"metrics.py:{name}", *options)
        assert found.code == 0, found.err
        found = program("worker", "evaluation", "--no-persist")
        assert found.code == 0, found.err
        (shown,) = program("watch", "show", "out", "--json").json["evaluations"]
        assert not (Path(program.cwd) / "out" / ".paddock-pins").exists() or shown["state"] == "failed"
        return shown

    return act


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("broken.py:acc", "no_such_library"),
        ("wrong.py:acc", "SyntaxError"),
        ("metrics.py:no_function", "no function"),
        ("metrics.py", "names no function"),
    ],
)
def test_what_cannot_be_loaded_is_said_at_the_start(program: Any, evaluate: Any, spec: str, says: str) -> None:
    found = program("watch", "out", "--once", "--evaluator", spec)
    assert (found.code, says in found.err) == (2, True), found.err
    assert not list(program.home.glob("watches/*/ledger/*.json"))


def test_one_that_raises_is_recorded_with_its_traceback_and_not_tried_again(program: Any, evaluate: Any) -> None:
    shown = evaluate("raises")
    assert (shown["state"], shown["reason"]) == ("failed", "ValueError: no such class")
    (run,) = program("ls", "job_type=eval", "--json").json["runs"]
    assert run["state"] == "failed"
    out = program("logs", run["id"]).out
    assert "Traceback" in out and "metrics.py" in out
    assert len(json.loads(program("status", "-Q", "evaluation", "--json").out)["queues"]) == 1


@pytest.mark.parametrize("name", ["exits", "dies"])
def test_one_that_ends_its_process_has_failed(program: Any, evaluate: Any, name: str) -> None:
    assert evaluate(name)["state"] == "failed"


def test_one_that_hangs_is_ended_after_its_time(program: Any, evaluate: Any) -> None:
    shown = evaluate("hangs", "--timeout", "3s")
    assert shown["state"] == "failed" and "timed out" in shown["reason"]


def test_one_that_fails_is_tried_again_only_as_told(program: Any, evaluate: Any) -> None:
    shown = evaluate("flaky", "--retries", "2")
    assert (shown["state"], (program.cwd / "tries").read_text()) == ("done", "xxx")
    assert shown["values"] == {"score": 7}


def test_garbage_in_its_output_does_no_harm(program: Any, evaluate: Any) -> None:
    shown = evaluate("garbage")
    assert (shown["state"], shown["values"]) == ("done", {"score": 1})


def test_nan_is_a_value(program: Any, evaluate: Any) -> None:
    evaluate("nan")
    (run,) = program("ls", "job_type=train", "--json").json["runs"]
    assert set(run["metrics"]) == {"eval/nan/acc", "eval/nan/loss"}
    (path,) = program.home.glob("watches/*/ledger/*.result")
    assert path.exists() and program("watch", "show", "out").code == 0


def test_scalars_of_libraries_are_numbers_and_the_rest_is_kept_beside_them(program: Any, evaluate: Any) -> None:
    assert evaluate("scalars")["values"] == {"acc": 0.5, "deep/n": 3}
    (run,) = program("ls", "job_type=eval", "--json").json["runs"]
    assert run["summary"]["note"] == "text"


@pytest.mark.parametrize("name", ["text", "nothing"])
def test_what_is_no_number_is_no_score(program: Any, evaluate: Any, name: str) -> None:
    shown = evaluate(name)
    assert (shown["state"], shown["values"]) == ("done", {})
    assert math.isfinite(shown["step"])

"""An evaluator that is wrong is refused at the start where that can be known, and is recorded with its reason else."""

from __future__ import annotations

import re
import zipfile
from typing import Any

import pytest

from tests.acceptance.conftest import new_program
from tests.conftest import is_foreign

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

def two(path, labels):
    return 1

async def later(path):
    return 1

def bit_by_bit(path):
    yield 1

no_function = 3
"""


SPECS = ("raises", "exits", "dies", "garbage", "nan", "scalars", "text", "nothing")


def prepare(program: Any) -> None:
    (program.cwd / "metrics.py").write_text(EVALUATORS)
    (program.cwd / "broken.py").write_text("import no_such_library\n\ndef acc(path): pass\n")
    (program.cwd / "wrong.py").write_text("def acc(path:\n")
    (program.cwd / "script.py").write_text("import sys\n\ndef acc(path): return 1\n\nsys.exit(0)\n")
    (program.cwd / "out").mkdir()
    with zipfile.ZipFile(program.cwd / "out" / "step=5.pt", "w") as file:
        file.writestr("data", "weights")


class Evaluated:
    """One checkpoint after all of them: what `watch show` says of each, and the runs."""

    def __init__(self, program: Any) -> None:
        self.program = program
        look = ("watch", "out", "--once", "--eval-existing", "--quiet-time", "0s")
        for names, *options in ((SPECS,), (("hangs",), "--timeout", "3s"), (("flaky",), "--retries", "2")):
            found = program(*look, *(f"--evaluator=metrics.py:{name}" for name in names), *options)
            assert found.code == 0, found.err
        found = program("worker", "evaluation", "--no-persist", "--slots", "4")
        assert found.code == 0, found.err
        shown = program("watch", "show", "out", "--json").json["evaluations"]
        self.shown = {one["evaluator"]: one for one in shown}
        runs = program("ls", "--json").json["runs"]
        self.training = next(run for run in runs if run["job_type"] == "train")
        self.runs = {run["config"]["evaluator"]: run for run in runs if run["job_type"] == "eval"}


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Evaluated:
    place = tmp_path_factory.mktemp("evaluated")
    program = new_program(place / "home", place)
    program.environment = {name: value for name, value in program.environment.items() if not is_foreign(name)}
    program.environment |= {"PADDOCK_HOME": str(program.home), "PADDOCK_CACHE": str(place / "cache")}
    prepare(program)
    return Evaluated(program)


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("broken.py:acc", "no_such_library"),
        ("wrong.py:acc", "SyntaxError"),
        ("script.py:acc", "calls sys.exit() when it is imported"),
        ("metrics.py:no_function", "no function"),
        ("metrics.py", "names no function"),
        ("metrics.py:", "names no function"),
        ("metrics.py:later", "is async"),
        ("metrics.py:bit_by_bit", "is a generator"),
        ("nowhere.py:acc", "nowhere.py"),
        ("metrics.py:two", "two"),
    ],
)
def test_what_cannot_be_loaded_is_said_at_the_start(program: Any, spec: str, says: str) -> None:
    prepare(program)
    found = program("watch", "out", "--once", "--evaluator", spec)
    assert (found.code, says in found.err) == (2, True), found.err
    assert "Traceback" not in found.err and "<frozen" not in found.err
    assert not list(program.home.glob("watches/*/ledger/*.json"))


def test_one_that_raises_is_recorded_with_its_traceback_and_not_tried_again(evaluated: Evaluated) -> None:
    shown, run = evaluated.shown["raises"], evaluated.runs["raises"]
    assert (shown["state"], shown["reason"]) == ("failed", "ValueError: no such class")
    assert (run["state"], run["attempts"]) == ("failed", 1)
    out = evaluated.program("logs", run["id"]).out
    assert "Traceback" in out and "metrics.py" in out
    for told in (out, evaluated.program("show", run["id"]).out):  # where it was raised, and not how it was called
        assert 'metrics.py", line' in told and "paddock/evaluate" not in told and "<frozen" not in told


@pytest.mark.parametrize("name", ["exits", "dies"])
def test_one_that_ends_its_process_has_failed(evaluated: Evaluated, name: str) -> None:
    assert evaluated.shown[name]["state"] == "failed"
    # The second as its shell says it, where it was not started ahead.
    assert (
        evaluated.shown[name]["reason"] in {"exits": ("SystemExit: 3",), "dies": ("signal KILL", "exit code 137")}[name]
    )


def test_one_that_hangs_is_ended_after_its_time(evaluated: Evaluated) -> None:
    shown = evaluated.shown["hangs"]
    assert shown["state"] == "failed" and re.fullmatch(r"timed out after \d+ s", shown["reason"])


def test_one_that_fails_is_tried_again_only_as_told(evaluated: Evaluated) -> None:
    shown = evaluated.shown["flaky"]
    assert (shown["state"], (evaluated.program.cwd / "tries").read_text()) == ("done", "xxx")
    assert shown["values"] == {"score": 7}


def test_garbage_in_its_output_does_no_harm(evaluated: Evaluated) -> None:
    shown = evaluated.shown["garbage"]
    assert (shown["state"], shown["values"]) == ("done", {"score": 1})


def test_nan_is_a_value(evaluated: Evaluated) -> None:
    assert {"eval/nan/acc", "eval/nan/loss"} <= set(evaluated.training["metrics"])
    assert evaluated.shown["nan"]["state"] == "done"
    shown = evaluated.program("watch", "show", "out")
    assert shown.code == 0 and "nan" in shown.out


def test_scalars_of_libraries_are_numbers_and_the_rest_is_kept_beside_them(evaluated: Evaluated) -> None:
    assert evaluated.shown["scalars"]["values"] == {"acc": 0.5, "deep/n": 3}
    assert evaluated.runs["scalars"]["summary"]["note"] == "text"


@pytest.mark.parametrize(("name", "why"), [("text", "what it returned, of type str, has no numbers"), ("nothing", "")])
def test_what_is_no_number_is_no_score_and_that_is_said(evaluated: Evaluated, name: str, why: str) -> None:
    shown = evaluated.shown[name]
    assert (shown["state"], shown["values"], shown["step"], shown["reason"]) == ("done", {}, 5, why)


def test_no_pin_is_left_but_of_those_that_failed(evaluated: Evaluated) -> None:
    failed = [one for one in evaluated.shown.values() if one["state"] == "failed"]
    pins = evaluated.program.cwd / "out" / ".paddock-pins"
    assert len(list(pins.iterdir())) <= len(failed) == 4

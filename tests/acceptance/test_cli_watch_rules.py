"""The rules of paddock watch, with a real watcher, a real worker and a real training."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from paddock.evaluate.ledger.book import Ledger
from tests.acceptance.watched import QUICK, evaluations, prepare, save, watching
from tests.waiting import until

ACC = ("out", "--evaluator", "metrics.py:acc")
TRAINER = """
import os, sys, time
import paddock

run = paddock.init(name="t", config={"out": "out"})
while not os.path.exists("finish"):
    run.log({"loss": 1.0})
    if sys.argv[1:] == ["ask"] and (why := paddock.should_stop()):
        print("stopping:", why)
        break
    time.sleep(0.02)
"""


@pytest.fixture
def out(program: Any) -> Path:
    return prepare(program)


@pytest.fixture
def training(program: Any) -> Iterator[Any]:
    (program.cwd / "train.py").write_text(TRAINER)
    started: list[subprocess.Popen[str]] = []

    def start(*words: str) -> subprocess.Popen[str]:
        command = [sys.executable, "train.py", *words]
        process = subprocess.Popen(
            command, cwd=program.cwd, env=program.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        started.append(process)
        until(lambda: any(program.home.glob("runs/*/journal/*")) or process.poll() is not None)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def states(program: Any) -> dict[int, str]:
    """Of each step that was found. From the ledger itself: asking the program again and again would take its time."""
    found = {}
    for path in program.home.glob("watches/*"):
        ledger = Ledger(path)
        for key in ledger.known()[0]:
            finding, result = ledger.finding(key), ledger.result(key)
            if finding is not None and finding.step is not None:
                found[finding.step] = result.state if result is not None else "pending"
    return found


def done(program: Any) -> list[int]:
    return sorted(step for step, state in states(program).items() if state == "done")


def left(out: Path) -> list[str]:
    return sorted(name for name in os.listdir(out) if not name.startswith("."))


def test_the_best_and_the_last_are_kept_and_the_others_deleted(program: Any, out: Path, read: Any) -> None:
    rules = ("--metric", "eval/acc", "--goal", "max", "--keep-best", "1", "--delete-others")
    with watching(program, *ACC, *rules) as process:
        for step, entries in ((1, 2), (2, 5), (3, 3), (4, 1)):
            save(out / f"step={step}.pt", entries)
            until(lambda step=step: step in done(program))  # type: ignore[misc]
        until(lambda: left(out) == ["best", "step=2.pt", "step=4.pt"])
        assert os.readlink(out / "best") == "step=2.pt"
        process.terminate()
        said = process.communicate(timeout=60)[1]
    assert said.count("deleted ") == 2 and "acc = 0.2 is not among the best 1" in said
    (run,) = program.home.glob("runs/watched-*")
    assert sorted(mark["step"] for mark in read(run).records["mark"] if mark["name"] == "best") == [1, 2]


def test_what_a_dry_run_would_delete_is_said_of_what_is_known_already(program: Any, out: Path) -> None:
    for step, entries in ((1, 2), (2, 5), (3, 3)):
        save(out / f"step={step}.pt", entries)
    once = ("watch", *ACC, "--once", "--eval-existing", *QUICK)
    assert program(*once).code == 0
    assert program("worker", "evaluation", "--no-persist").code == 0
    rules = ["--metric", "acc", "--goal", "max", "--keep-best", "1", "--delete-others", "--dry-run"]
    found = program(*once, *rules)
    assert (found.code, found.err.count("would delete")) == (0, 1), found.err
    assert left(out) == ["step=1.pt", "step=2.pt", "step=3.pt"]


def test_older_ones_that_wait_give_way_and_what_runs_does_not(program: Any, out: Path) -> None:
    slow = ("out", "--evaluator", "metrics.py:slow", "--num-eval-workers", "1")
    with watching(program, *slow, "--max-pending", "1"):
        save(out / "step=1.pt")
        until(lambda: (program.cwd / "running").exists())
        for step in (2, 3, 4):
            save(out / f"step={step}.pt")
            until(lambda step=step: step in states(program))  # type: ignore[misc]
        (program.cwd / "go").touch()
        until(lambda: states(program) == {1: "done", 2: "skipped", 3: "skipped", 4: "done"})
        found = evaluations(program)
    assert all(one["reason"].startswith("coalesced") for one in found if one["state"] == "skipped")


def test_it_ends_with_the_training_when_the_last_one_is_evaluated(program: Any, out: Path, training: Any) -> None:
    trainer = training()
    with watching(program, *ACC, "--every", "2", "--stop-when", "training-done") as process:
        for step in (1, 2, 3):
            save(out / f"step={step}.pt")
            until(lambda step=step: step in states(program))  # type: ignore[misc]
        assert process.poll() is None
        (program.cwd / "finish").touch()
        assert trainer.wait(60) == 0
        said = process.communicate(timeout=120)[1]
        assert (process.returncode, "the training is over" in said) == (0, True), said
    assert done(program) == [2, 3]
    assert program("series", "t", "eval/acc/acc").out.split()[2::2] == ["2", "3"]


def test_it_ends_when_nothing_new_comes_however_the_time_is_written(program: Any, out: Path) -> None:
    save(out / "step=1.pt")
    process = program.start("watch", *ACC, *QUICK, "--eval-existing", "--stop-when", "idle", "1s")
    said = process.communicate(timeout=120)[1]
    assert (process.returncode, "nothing new came for 1 s" in said) == (0, True), said
    assert done(program) == [1]


def test_a_command_hears_of_each_new_best_once_also_when_the_watcher_is_killed(program: Any, out: Path) -> None:
    bests = program.cwd / "bests"
    command = f"echo {{step}} \"{{path}}\" '{{metric}}' {{value}} >> {bests}"
    rules = ("--metric", "acc", "--on-best", command)

    def heard() -> list[str]:
        return [line.split()[0] for line in bests.read_text().splitlines()] if bests.exists() else []

    with watching(program, *ACC, *rules, "--no-worker") as process:
        save(out / "step=1.pt", 2)
        until(lambda: states(program))
        assert program("worker", "evaluation", "--no-persist").code == 0
        until(lambda: heard() == ["1"])
        process.send_signal(signal.SIGKILL)
        process.wait()
    with watching(program, *ACC, *rules):
        save(out / "step=2.pt", 1)
        until(lambda: done(program) == [1, 2])
        save(out / "step=3.pt", 4)
        until(lambda: heard() == ["1", "3"])
    assert bests.read_text().splitlines()[1] == f"3 {out}/step=3.pt acc 0.4"


def test_a_trainer_that_asks_is_told_to_stop_when_its_score_stalls(program: Any, out: Path, training: Any) -> None:
    trainer = training("ask")
    with watching(program, *ACC, *["--metric", "acc", "--patience", "2", "--stop-file", "STOP"]):
        for step, entries in ((1, 3), (2, 2), (3, 3)):
            save(out / f"step={step}.pt", entries)
            until(lambda step=step: step in done(program))  # type: ignore[misc]
        said = trainer.communicate(timeout=120)[0]
    why = "acc was not better than 0.3 (step 1) in 2 evaluations"
    assert (trainer.returncode, said) == (0, f"stopping: {why}\n")
    assert (out / "STOP").read_text() == f"{why}\n"
    assert program("show", "t", "--json").json["run"]["state"] == "finished"


def test_a_trainer_that_does_not_ask_gets_a_signal(program: Any, out: Path, training: Any) -> None:
    trainer = training()
    with watching(program, *ACC, *["--metric", "acc", "--patience", "1", "--stop-signal", "TERM"]):
        for step in (1, 2):
            save(out / f"step={step}.pt")
            until(lambda step=step: step in done(program))  # type: ignore[misc]
        trainer.communicate(timeout=120)
    assert trainer.returncode == -signal.SIGTERM
    run = program("show", "t", "--json").json["run"]
    assert (run["state"], run["reason"]) == ("killed", "signal TERM")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("--keep-best 3", "compares by a metric"),
        ("--metric acc --keep-best 3 --delete-others", "is a high acc good"),
        ("--stop-when tomorrow", "is unknown"),
        ("--every 0", "at least 1"),
        ("--metric acc --patience 1 --stop-signal NOPE", "no signal"),
    ],
)
def test_what_cannot_be_meant_is_said_at_the_start(program: Any, out: Path, words: str, says: str) -> None:
    found = program("watch", *ACC, "--once", *words.split())
    assert (found.code, says in found.err) == (2, True), found.err

"""The training run of a checkpoint is known before it comes, and the right one when it changes."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from paddock.compare.source import source
from paddock.evaluate.training import parentage
from paddock.evaluate.training.parentage import Parentage
from paddock.evaluate.training.run import is_made
from paddock.record.layout import Home
from tests.acceptance.conftest import write_run
from tests.waiting import until


class Runs:
    """All runs of a home, and how often somebody asked."""

    def __init__(self, home: Home) -> None:
        self.home, self.asked = home, 0

    def __call__(self) -> list[Any]:
        self.asked += 1
        with source(self.home).catalog() as catalog:
            catalog.refresh()
            return list(catalog.runs())


@pytest.fixture
def runs(home: Home) -> Runs:
    return Runs(home)


@pytest.fixture
def found(home: Home, runs: Runs, monkeypatch: pytest.MonkeyPatch) -> Iterator[Parentage]:
    monkeypatch.setattr(parentage, "FIRST_SECONDS", 0.01)
    monkeypatch.setattr(parentage, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(parentage, "CALM_SECONDS", 0.01)
    made = Parentage(home, runs)
    yield made
    made.close()


def test_the_run_that_trains_into_a_directory_is_known_before_its_checkpoint_comes(
    home: Home, runs: Runs, found: Parentage, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    found.expect({str(out), str(out / "deep")})
    write_run(home, "train", config={"out": str(out)}, running=True)
    until(lambda: found._known.get(str(out)) == "train")
    found.close()
    asked = runs.asked
    assert found(str(out / "step=1.pt")) == found(str(out / "deep" / "step=1.pt")) == "train"
    assert runs.asked == asked


@pytest.mark.parametrize(
    "command",
    [
        "python train.py --out {out}",
        "python train.py --out={out} && echo over",
        "cd /tmp\npython 'train it.py' --lr 1 --out '{out}'",
        "python train.py --out {out} # it's this",
    ],
)
def test_the_run_of_a_task_is_found_by_a_word_of_its_shell_command(
    home: Home, found: Parentage, tmp_path: Path, command: str
) -> None:
    out = tmp_path / "out"
    write_run(home, "other", command=["/bin/sh", "-c", f"python train.py --out {out}-2"], running=True)
    write_run(home, "train", command=["/bin/sh", "-c", command.format(out=out)], running=True)
    assert found(str(out / "step=1.pt")) == "train"


def place_of(tmp_path: Path, *names: str) -> Path:
    place = tmp_path.joinpath(*names)
    place.mkdir(parents=True, exist_ok=True)
    return place


@pytest.mark.parametrize("running", [True, False])
@pytest.mark.parametrize("out", ["ckpt", "my run-2", "./ckpt/", "deep/ckpt"])
def test_a_relative_path_is_of_the_run_that_works_where_it_leads(
    home: Home, found: Parentage, tmp_path: Path, out: str, running: bool
) -> None:
    """Two trainings with the same config in two directories; the one that began last is not that of both."""
    trainings = {name: place_of(tmp_path, name) for name in ("first", "second")}
    for name, cwd in trainings.items():
        place_of(cwd, out)
        write_run(home, name, config={"out": out, "model": "resnet"}, cwd=str(cwd), running=running)
    for name, cwd in trainings.items():
        assert found(str(cwd / out / "step=1.pt")) == name


def test_of_a_run_that_runs_it_is_also_what_lies_below(home: Home, found: Parentage, tmp_path: Path) -> None:
    for name in ("first", "second"):
        cwd = place_of(tmp_path, name)
        write_run(home, name, command=["python", "train.py", "--out=runs", ".."], cwd=str(cwd), running=True)
        assert found(str(place_of(cwd, "runs", "deep") / "step=1.pt")) == name
    assert is_made(found(str(place_of(tmp_path, "third") / "step=1.pt")))


@pytest.mark.parametrize("second_runs", [True, False])
def test_of_runs_that_name_a_directory_above_it_is_the_one_that_names_it_itself(
    home: Home, found: Parentage, tmp_path: Path, second_runs: bool
) -> None:
    """All read from --data, below which each writes; the one that began last is not that of all."""
    for name, running in (("first", False), ("second", second_runs)):
        out = tmp_path / "data" / "runs" / name
        write_run(home, name, config={"data": str(tmp_path / "data"), "out": str(out)}, running=running)
    for name in ("first", "second"):
        assert found(str(tmp_path / "data" / "runs" / name / "step=1.pt")) == name
    assert found(str(tmp_path / "data" / "step=1.pt")) == "second"


def test_one_that_was_made_for_scores_gives_way_to_a_training_that_names_a_directory_above(
    home: Home, found: Parentage, tmp_path: Path
) -> None:
    out = place_of(tmp_path, "runs", "first")
    assert is_made(found(str(out / "step=1.pt")))
    write_run(home, "train", config={"base": str(tmp_path / "runs")}, running=True)
    until(lambda: found(str(out / "step=1.pt")) == "train")


def test_a_relative_path_is_taken_by_its_end_where_nobody_knows_what_it_meant(
    home: Home, found: Parentage, tmp_path: Path
) -> None:
    write_run(home, "train", config={"out": "ckpt", "model": "llama-7b"}, running=True)
    assert found(str(place_of(tmp_path, "ckpt") / "step=1.pt")) == "train"
    assert is_made(found(str(place_of(tmp_path, "llama-7b") / "step=1.pt")))  # that may be any word


@pytest.mark.parametrize("running", [True, False])
def test_a_run_that_names_no_directory_trains_into_the_one_below_it_that_grows(
    home: Home, found: Parentage, tmp_path: Path, running: bool
) -> None:
    out, before = place_of(tmp_path, "out"), place_of(tmp_path, "before")
    (before / "step=1.pt").touch()
    os.utime(before / "step=1.pt", (1e9, 1e9))
    write_run(home, "train", cwd=str(tmp_path), running=running, created=time.time() - 1e4)
    (out / "step=1.pt").touch()
    if not running:  # when it had something to say last
        (journal,) = (home.runs / "train" / "journal").iterdir()
        ended = found._runs()[0].ended  # type: ignore[union-attr]
        assert journal.exists() and ended is not None
        os.utime(out / "step=1.pt", (ended, ended))
    # What somebody puts there later is not of the training, nor is what runs elsewhere.
    (out / "best").symlink_to("step=1.pt"), (out / "report.json").touch()
    write_run(home, "elsewhere", cwd=str(place_of(tmp_path, "elsewhere")), running=True)
    assert found(str(out / "step=1.pt")) == "train"
    assert is_made(found(str(before / "step=1.pt")))


def test_of_two_runs_that_name_no_directory_it_is_neither_and_one_that_names_another_has_it_not(
    home: Home, found: Parentage, tmp_path: Path
) -> None:
    out, other = place_of(tmp_path, "out"), place_of(tmp_path, "other")
    write_run(home, "names", cwd=str(tmp_path), config={"out": str(other)}, running=True)
    assert is_made(found(str(out / "step=1.pt")))
    for name in ("a", "b"):
        write_run(home, name, cwd=str(place_of(tmp_path, "two")), running=True)
    assert is_made(found(str(place_of(tmp_path, "two", "out") / "step=1.pt")))


def test_one_is_made_without_another_look_where_the_last_one_found_none(
    home: Home, runs: Runs, found: Parentage, tmp_path: Path
) -> None:
    found.expect({str(tmp_path)})
    until(lambda: found._is_fresh() and str(tmp_path) in found._missed)
    found.close()
    asked = runs.asked
    run = found(str(tmp_path / "step=1.pt"))
    assert is_made(run) and runs.asked == asked
    assert found(str(tmp_path / "step=2.pt")) == run


def test_a_run_that_began_just_before_the_checkpoint_is_found(home: Home, runs: Runs, tmp_path: Path) -> None:
    found = Parentage(home, runs)
    found.look(), found.look()
    write_run(home, "train", config={"out": str(tmp_path)}, running=True)
    assert found(str(tmp_path / "step=1.pt")) == "train"


def test_the_next_training_in_the_same_directory_gets_its_own_scores(
    home: Home, found: Parentage, tmp_path: Path
) -> None:
    write_run(home, "first", config={"out": str(tmp_path)})
    assert found(str(tmp_path / "step=1.pt")) == "first"
    write_run(home, "second", config={"out": str(tmp_path)}, running=True)
    found.expect({str(tmp_path)})
    until(lambda: found(str(tmp_path / "step=1.pt")) == "second")


def test_the_next_training_has_its_scores_from_its_first_checkpoint_on(home: Home, runs: Runs, tmp_path: Path) -> None:
    found = Parentage(home, runs)
    write_run(home, "first", config={"out": str(tmp_path)})
    assert found(str(tmp_path / "step=1.pt")) == "first"
    asked = runs.asked
    write_run(home, "eval-1", job_type="eval")
    assert found(str(tmp_path / "step=2.pt")) == "first" and runs.asked == asked
    (home.runs / "second").mkdir()  # it is about to begin
    assert found(str(tmp_path / "step=2.pt")) == "first"
    (home.runs / "second").rmdir()
    write_run(home, "second", config={"out": str(tmp_path)}, running=True)
    assert found(str(tmp_path / "step=3.pt")) == "second"


def test_a_catalog_that_cannot_be_asked_now_is_asked_again(
    home: Home, runs: Runs, monkeypatch: pytest.MonkeyPatch, found: Parentage, tmp_path: Path
) -> None:
    answers = iter([OSError("busy"), OSError("busy")])

    def refuse() -> list[Any]:
        error = next(answers, None)
        if error is not None:
            raise error
        return runs()

    monkeypatch.setattr(found, "_runs", refuse)
    write_run(home, "train", config={"out": str(tmp_path)}, running=True)
    found.expect({str(tmp_path)})
    until(lambda: found._known.get(str(tmp_path)) == "train")

"""The live view of a watch fits its terminal, and what matters is not what is cut off."""

from __future__ import annotations

import io
import time
from pathlib import Path

import msgspec
import pytest
from rich.console import Console

from paddock.cli.watch.keeping.follow import Row
from paddock.cli.watch.keeping.live import Live
from paddock.cli.watch.keeping.view import line
from paddock.cli.watch.shown import distinct
from paddock.compare.text import path_end, width
from paddock.evaluate.ledger.account import Account, Evaluation, counts
from paddock.evaluate.ledger.book import Ledger
from paddock.evaluate.ledger.entry import Finding, Result
from paddock.monitor.watches import best

SEEDS = [f"/data/project/runs/resnet50-lr0.1-seed{seed}/checkpoints" for seed in range(3)]


def evaluation(directory: str, step: int, state: str = "done", **result: object) -> Evaluation:
    path = f"{directory}/epoch=0-step={step}.ckpt"
    finding = Finding(key=f"{step}", evaluator="accuracy", call={}, path=path, fingerprint="", step=step, found=100.0)
    found = Result(state=state, values={"top1": step / 10_000}, started=100.5, ended=102.0, **result)  # type: ignore[arg-type]
    return Evaluation(finding, state, found.reason, found)


def row(directory: str, *evaluations: Evaluation) -> Row:
    listed, ledger = list(evaluations), Ledger(Path(directory))
    found = Row(directory, Account(ledger), ledger, evaluations=listed, counts=counts(listed))
    found.best, found.last, found.waited = best(listed), listed[-1] if listed else None, 0.5 if listed else None
    return found


def rendered(rows: list[Row], columns: int, lines: int = 24, events: tuple[Evaluation, ...] = ()) -> list[str]:
    console = Console(file=io.StringIO(), width=columns, height=lines, markup=False, highlight=False)
    live = Live(lambda: "Watching 3 directories with accuracy. Ctrl-C ends it.", console=console)
    live.stands(rows)
    for one in events:
        live.changed(one)
    live.close()
    with console.capture() as capture:
        console.print(live.render())
    return capture.get().splitlines()


@pytest.mark.parametrize("columns", [80, 100, 120, 200])
def test_it_fits_the_terminal_and_shows_the_best_value_of_each(columns: int) -> None:
    rows = [row(path, evaluation(path, 1000), evaluation(path, 9000)) for path in SEEDS]
    failed = evaluation(SEEDS[1], 9000, "failed", reason="ValueError: the weights have the wrong shape " * 5)
    lines = rendered(rows, columns, events=(failed,))
    assert max(map(width, lines)) <= columns
    for seed in range(3):
        assert [line for line in lines if f"seed{seed}" in line and "0.9 @9000" in line and "0.5s" in line]
    assert [line for line in lines if "failed" in line and "seed1 step 9000: ValueError" in line]


@pytest.mark.parametrize("columns", [40, 60])
def test_on_half_a_screen_the_numbers_are_whole_and_states_without_any_are_left_out(columns: int) -> None:
    rows = [row(path, *(evaluation(path, step) for step in range(1000, 1012))) for path in SEEDS]
    head, first = rendered(rows, columns)[1:3]
    assert head.split() == ["directory", "step", "done", "best"]
    assert first.split()[1:4] == ["1011", "12", "0.1011"]
    failed = row("/data/other", evaluation("/data/other", 5, "failed"))
    assert rendered([*rows, failed], columns)[1].split()[2:4] == ["done", "fail"]


def test_on_a_very_wide_terminal_the_columns_stay_together() -> None:
    assert max(map(width, rendered([row(path, evaluation(path, 9000)) for path in SEEDS], 300))) < 160


def test_a_long_name_does_not_push_the_score_off_the_line() -> None:
    names = [f"/data/{letter * 60}/checkpoints" for letter in "ab"]
    lines = rendered([row(path, evaluation(path, 9000)) for path in names], 80, events=(evaluation(names[1], 9000),))
    assert [line for line in lines if "done" in line and "bbb step 9000: top1 0.9" in line]


def test_what_is_said_names_a_checkpoint_as_the_table_does() -> None:
    console = Console(file=io.StringIO(), width=80, height=24, markup=False, highlight=False)
    live = Live(lambda: "", console=console)
    live.stands([row(path) for path in SEEDS])
    live.said(f"best top1 = 0.9: {SEEDS[1]}/step=7.ckpt")
    live.close()
    with console.capture() as capture:
        console.print(live.render())
    assert "best top1 = 0.9: resnet50-lr0.1-seed1/step=7.ckpt" in capture.get()


def test_it_is_drawn_when_something_is_new_and_not_by_the_clock() -> None:
    file = io.StringIO()
    live = Live(lambda: "", console=Console(file=file, width=80, height=24, force_terminal=True))
    rows = [row(path, evaluation(path, 1000)) for path in SEEDS]
    live.stands(rows)
    first = file.tell()
    time.sleep(1.1)
    live.stands(rows)
    assert file.tell() == first
    live.said("the disk is away")
    live.stands(rows)
    told = file.tell()
    rows[0].changed = 1.0
    live.stands(rows)
    live.close()
    assert first < told < file.tell() and "the disk is away" in file.getvalue()


def test_of_many_directories_those_are_shown_where_something_happens() -> None:
    rows = [row(f"/data/many/run{i}") for i in range(200)]
    rows[150] = row("/data/many/run150", evaluation("/data/many/run150", 7))
    rows[150].changed = 1.0
    lines = rendered(rows, 80, lines=20)
    assert len(lines) <= 20
    assert [line for line in lines if line.startswith("run150")]
    assert [line for line in lines if line.startswith("and 19")]


def test_what_a_name_contains_cannot_drive_the_terminal() -> None:
    path = "/data/\x1b[2Jevil"
    assert not [line for line in rendered([row(path, evaluation(path, 1))], 80) if "\x1b" in line]


def test_directories_are_told_apart_by_what_differs() -> None:
    assert list(distinct(SEEDS).values()) == [f"resnet50-lr0.1-seed{seed}" for seed in range(3)]
    assert list(distinct(["/a/x/ckpt", "/a/x/models"]).values()) == ["ckpt", "models"]
    assert list(distinct(["/a/b/c"]).values()) == ["a/b/c"]
    assert list(distinct(["s3://bucket/a/out", "s3://bucket/b/out"]).values()) == ["a", "b"]
    assert path_end("resnet50-lr0.1-seed0", 10) == "…0.1-seed0"
    assert width(path_end("日本語のディレクトリ", 9)) <= 9


def test_a_line_names_a_few_scores_of_many() -> None:
    one = evaluation(SEEDS[0], 1000)
    assert one.result is not None
    many = msgspec.structs.replace(one.result, values={f"task{number}": 0.5 for number in range(2000)})
    assert line(one._replace(result=many), "it").startswith("done it: task0 0.5, task1 0.5, ")
    assert ", task7 0.5, and 1,992 more (waited" in line(one._replace(result=many), "it")

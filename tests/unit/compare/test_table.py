"""paddock.runs(): a table that is a value, over a home on disk."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import pytest

from paddock import wire
from paddock.compare.frames import choose
from paddock.compare.table import RunTable, run_view, runs
from paddock.errors import Ambiguous, MetricNotFound, MissingExtra, NotFound, RunNotFound, UsageError
from paddock.record.journal import Journal
from paddock.record.layout import Home, RunDirectory


def write(
    home: Home, number: int, config: dict, points: dict[str, list[float]], name: str = "", **facts
) -> RunDirectory:
    run_id = f"run{number}"
    directory = RunDirectory(home.runs / run_id)
    directory.journals.mkdir(parents=True)
    base = {
        "v": 1,
        "id": run_id,
        "name": name or f"n{number}",
        "project": "p",
        "created": 1000.0 + number,
        "config": config,
    }
    directory.facts.write_bytes(wire.dumps(wire.plain(base | facts).value))
    header = {"run": run_id, "writer": "w", "role": "main", "host": "h", "pid": 1, "attempt": 1, "rank": None}
    journal = Journal(directory.journals / "w.jsonl", header)
    for column, (metric, values) in enumerate(points.items()):
        base_name, _, tag = metric.partition("@")
        record = {"k": "columns", "id": column, "names": [base_name]}
        journal.append(record | ({"tags": {"split": tag}} if tag else {}))
        for step, value in enumerate(values):
            journal.write(wire.row_line([column, step, step, value]))
    journal.append_now({"k": "mark", "step": 1, "name": "warm", "data": None})
    journal.append_now({"k": "end", "code": 0, "reason": "finished"})
    journal.close()
    return directory


@pytest.fixture
def table(home: Home) -> RunTable:
    for number, (lr, seed, acc) in enumerate([(0.1, 0, 0.90), (0.1, 1, 0.92), (0.01, 0, 0.80), (0.01, 1, 0.84)]):
        write(
            home,
            number,
            {"lr": lr, "seed": seed, "net": {"depth": 3}},
            {"acc": [0.1, acc, 0.5], "loss": [2.0, 1 - acc]},
        )
    return runs()


def test_the_runs_of_the_home_come_newest_first(table):
    assert table.ids == ["run3", "run2", "run1", "run0"]
    assert len(table) == 4 and [run.name for run in table] == ["n3", "n2", "n1", "n0"]


def test_filters_by_query_and_by_keywords_agree(table):
    assert table.filter("lr=0.1 seed=0").ids == ["run0"]
    assert runs("lr=0.1", seed=0).ids == ["run0"]
    assert runs(lr=[0.1, 0.01], seed=1).ids == ["run3", "run1"]
    assert runs(project="other").ids == []


def test_sorting_and_slicing_make_new_tables(table):
    best = table.sort("-best.acc")
    assert best.ids == ["run1", "run0", "run3", "run2"]
    assert table.ids[0] == "run3"
    assert best[:2].ids == ["run1", "run0"]
    assert best[0].id == "run1" and best["n2"].id == "run2" and best["run2"].name == "n2"
    with pytest.raises(KeyError):
        table["nothing"]


def test_groups_take_seeds_together(table):
    grouped = table.group("config.lr", metrics=["acc"]).sort("config.lr")
    assert [group.keys["config.lr"] for group in grouped] == [0.01, 0.1]
    assert grouped[1].metrics["acc"].mean == pytest.approx(0.91)
    assert grouped[1].metrics["acc"].n == 2
    assert "0.91 ± 0.014" in repr(grouped)
    assert table.group(metrics=["acc"]).by == ("config.lr",)
    assert grouped.dicts()[0]["acc.n"] == 2
    assert list(grouped.to_polars().columns) == ["config.lr", "runs", "acc.mean", "acc.std", "acc.n"]


def test_series_of_all_runs_and_of_one(table):
    found = table.series("acc")
    assert list(found) == table.ids
    assert list(found["run0"].values) == [0.1, 0.9, 0.5]
    curve = table["run0"].series("acc")
    assert list(curve) == [(0, 0.1), (1, 0.9), (2, 0.5)]
    steps, values = curve.to_numpy()
    assert steps.dtype == "int64" and values.dtype == "float64" and values.tolist() == [0.1, 0.9, 0.5]
    assert curve.df("pandas")["step"].tolist() == [0, 1, 2]
    assert curve.df("polars")["value"].to_list() == [0.1, 0.9, 0.5]


def test_a_metric_that_is_not_there_names_what_is(table):
    for ask in (lambda: table.series("ac"), lambda: table[0].series("ac"), lambda: table.sort("best.ac")):
        with pytest.raises(MetricNotFound, match="Did you mean 'acc'"):
            ask()
    with pytest.raises(NotFound, match=r"net\.depth"):
        table.select("net.dept")


def test_a_tagged_metric_is_found_as_listings_spell_it(home):
    write(home, 7, {}, {"acc@val": [0.5, 0.6], "acc@train": [0.7]})
    run = run_view("run7")
    assert set(run.metrics) == {"acc{split=val}", "acc{split=train}"}
    assert list(run.series("acc{split=val}").values) == [0.5, 0.6]
    assert list(run.series("acc", tags={"split": "train"}).values) == [0.7]
    assert list(runs().series("acc{split=val}")["run7"].values) == [0.5, 0.6]
    with pytest.raises(UsageError, match="several sets of tags"):
        run.series("acc")


def test_a_run_gives_its_fields_values_records_and_files(table, home):
    run = table["run0"]
    assert (run.project, run.config["lr"], run["net.depth"], run.get("nothing", 5)) == ("p", 0.1, 3, 5)
    with pytest.raises(KeyError):
        run["nothing"]
    with pytest.raises(AttributeError):
        _ = run.nothing
    assert run.facts["name"] == "n0"
    assert [writer.role for writer in run.writers] == ["main"]
    assert run.records("mark")[0]["name"] == "warm"
    assert run.path == home.runs / "run0" and run.files == [] and run.logs() == ""
    (run.path / "files" / "a").mkdir(parents=True)
    (run.path / "files" / "a" / "x.txt").write_text("x")
    (run.path / "output").mkdir()
    (run.path / "output" / "1.log").write_text("hello")
    assert run.files == [Path(run.path / "files" / "a" / "x.txt")] and run.logs() == "hello"
    assert "lr = 0.1" in repr(run)


def test_a_run_is_found_by_name_or_the_beginning_of_its_id(table):
    assert run_view("n2").id == "run2"
    with pytest.raises(Ambiguous):
        run_view("run")
    with pytest.raises(RunNotFound):
        run_view("zzz")


def test_frames_of_both_makes_hold_the_same(table):
    pandas, polars = table.to_pandas(), table.to_polars()
    assert pandas["config.lr"].tolist() == polars["config.lr"].to_list() == [0.01, 0.01, 0.1, 0.1]
    assert pandas["best.loss"].tolist() == pytest.approx([0.16, 0.2, 0.08, 0.1])
    assert list(pandas.columns) == polars.columns
    assert table.select("id", "lr").to_pandas().columns.tolist() == ["id", "lr"]


def test_a_column_of_mixed_values_still_makes_a_frame(home):
    for number, value in enumerate([1, "text", [1, 2], None, True, {"a": 1}]):
        write(home, number, {"odd": value}, {})
    write(home, 9, {}, {"x": [math.nan]})
    table = runs()
    assert len(table.to_polars()) == len(table.to_pandas()) == 7
    assert table.sort("created").column("config.odd")[:3] == [1, "text", [1, 2]]


def test_the_frame_follows_what_the_program_already_uses(monkeypatch):
    monkeypatch.delitem(sys.modules, "pandas", raising=False)
    monkeypatch.setitem(sys.modules, "polars", sys)
    assert choose() == "polars"
    assert choose("pandas") == "pandas"
    with pytest.raises(UsageError):
        choose("excel")


def test_a_missing_library_names_what_to_install(monkeypatch):
    import importlib.util

    import paddock.compare.frames as frames

    monkeypatch.setattr(frames, "find_spec", lambda name: None)
    monkeypatch.setattr(frames.sys, "modules", {})
    assert importlib.util.find_spec("pandas") is not None
    with pytest.raises(MissingExtra, match=r"paddock\[pandas\]"):
        choose()


def test_the_text_and_html_forms_show_what_differs_and_escape(home, table):
    write(home, 8, {"lr": "<script>"}, {}, name="<b>bold</b>")
    found = runs()
    lines = repr(found).splitlines()
    assert lines[0].split()[:4] == ["id", "name", "project", "state"] and "lr" in lines[0]
    html = found._repr_html_()
    assert "<script>" not in html and "&lt;b&gt;bold" in html
    assert repr(found.filter("lr=77")) == "No runs."
    assert "No runs" in found.filter("lr=77")._repr_html_()


def test_an_empty_home_is_an_empty_table(home):
    table = runs()
    assert len(table) == 0 and table.dicts() == [] and table.series("x") == {}
    assert len(table.to_pandas()) == 0

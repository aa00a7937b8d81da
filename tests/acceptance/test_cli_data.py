"""paddock series, query, export, compare, diff"""

from __future__ import annotations

import csv
import io
import json
from urllib.parse import parse_qs

import pytest

from paddock.record.layout import Home
from paddock.record.reports import reports


def test_series_puts_metrics_side_by_side_by_step(program, digits):
    assert program(
        "series", "aa1", "acc", "loss", "--csv"
    ).out == "step,acc,loss\n0,0.1,2.0\n1,0.92,0.08\n2,0.87,0.18\n".replace("0.08", repr(1.0 - 0.92)).replace(
        "0.18", repr(1.1 - 0.92)
    )
    (found,) = program("series", "aa1", "acc", "--json").json["series"]
    assert (found["steps"], found["values"]) == ([0, 1, 2], [0.1, 0.92, 0.92 - 0.05])
    assert program("series", "aa1", "acc").out.splitlines()[0] == "step   acc"


def test_an_unknown_metric_names_the_near_ones_and_what_there_is(program, digits):
    result = program("series", "aa1", "lss")
    assert result.code == 3
    assert (
        "no metric 'lss'" in result.err
        and "Did you mean 'loss'?" in result.err
        and "There is: acc, loss." in result.err
    )
    assert program("series", "aa1", "lss", "--json").error["type"] == "MetricNotFound"


def test_tagged_points_are_chosen_by_their_tags_or_by_the_listed_name(program, write):
    write("t1", points={"acc@val": [0.5, 0.6], "acc@train": [0.9]})
    listed = list(program("ls", "--json").json["runs"][0]["metrics"])
    assert listed == ["acc{fold=1,split=val}", "acc{fold=1,split=train}"]
    for arguments in (("acc", "--tags", "split=val"), ("acc", "--tags", "split=val", "--tags", "fold=1"), (listed[0],)):
        (found,) = program("series", "t1", *arguments, "--json").json["series"]
        assert found["values"] == [0.5, 0.6] and found["tags"] == {"fold": 1, "split": "val"}
    several, none = (
        program("series", "t1", "acc", "--tags", "fold=1"),
        program("series", "t1", "acc", "--tags", "fold=2"),
    )
    assert several.code == 2 and "fold=1 split=val" in several.err
    assert none.code == 3 and "fold=1 split=train" in none.err
    assert program("series", "t1", "acc").code == 2
    assert len(program("compare", "-m", "acc", "--json").json["groups"][0]["metrics"]) == 2
    assert len(rows_of_csv(program("export", "--metric", listed[0]).out)) == 2
    assert len(rows_of_csv(program("export", "--metric", "acc").out)) == 3


def test_sql_reads_and_never_writes(program, digits):
    found = program("query", "--sql", "SELECT id FROM runs WHERE state = 'finished' ORDER BY id", "--json").json
    assert found == {"columns": ["id"], "rows": [["aa0"], ["aa1"], ["aa2"], ["aa3"]]}
    assert program("query", "--sql", "SELECT count(*) AS n FROM runs", "--csv").out == "n\n6\n"
    for statement in ("DELETE FROM runs", "SELECT nothing FROM runs", "ATTACH 'x' AS y"):
        result = program("query", "--sql", statement)
        assert result.code == 2 and result.err.startswith("paddock: ")


def rows_of_csv(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_points_are_exported_alike_in_every_format(program, digits):
    import pyarrow.parquet as pq

    rows = rows_of_csv(program("export", "id=aa0 or id=bb1").out)
    assert len(rows) == 9
    first = rows[0]
    assert list(first) == ["run", "name", "metric", "step", "time", "value", "rank", "attempt", "tags"]
    for path in ("p.parquet", "p.csv", "p.jsonl"):
        found = program("export", "id=aa0 or id=bb1", "-o", path, "--json").json
        assert (found["points"], found["runs"]) == (9, 2)
    table = pq.read_table(program.cwd / "p.parquet").to_pylist()
    lines = [json.loads(line) for line in (program.cwd / "p.jsonl").read_text().splitlines()]
    written = rows_of_csv((program.cwd / "p.csv").read_text())
    key = [(row["run"], row["metric"], int(row["step"])) for row in rows]
    for other in (table, lines, written):
        assert [(row["run"], row["metric"], int(row["step"])) for row in other] == key
    assert [row["value"] for row in lines if row["run"] == "bb1" and row["metric"] == "loss"] == [1.0, None]
    assert sorted(p.name for p in program.cwd.iterdir()) == ["p.csv", "p.jsonl", "p.parquet"]  # nothing left aside


def test_one_metric_or_only_the_runs_can_be_exported(program, digits):
    rows = rows_of_csv(program("export", "aa0", "aa1", "--metric", "acc").out)
    assert {row["metric"] for row in rows} == {"acc"} and len(rows) == 6
    runs = rows_of_csv(program("export", "--runs-only").out)
    assert len(runs) == 6 and {run["config.lr"] for run in runs} == {"0.1", "0.01", "9.0", ""}
    for path in ("r.parquet", "r.csv", "r.jsonl"):
        assert program("export", "--runs-only", "-o", path).code == 0
    assert len((program.cwd / "r.jsonl").read_text().splitlines()) == 6


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("-o", "points.txt"), 2),
        (("--format", "parquet"), 2),
        (("-o", "missing/points.csv"), 2),
        (("-o", "points.csv", "--metric", "nothing"), 3),
        (("nosuchrun", "-o", "points.csv"), 3),
    ],
)
def test_an_export_that_cannot_be_is_refused_and_leaves_nothing(program, digits, arguments, code):
    result = program("export", *arguments)
    assert result.code == code and result.err.startswith("paddock: ")
    assert list(program.cwd.iterdir()) == []


def test_parquet_without_a_library_names_what_to_install(program, digits, tmp_path):
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "sitecustomize.py").write_text(
        "import importlib.util as u\nreal = u.find_spec\n"
        "u.find_spec = lambda name, *a: None if name in ('pyarrow', 'polars') else real(name, *a)\n"
    )
    env = {"PYTHONPATH": f"{hidden}:{program.environment['PYTHONPATH']}"}
    result = program("export", "-o", "p.parquet", env=env)
    assert result.code == 8 and "pip install 'paddock[parquet]'" in result.err


def test_compare_takes_seeds_together(program, digits):
    found = program("compare", "state=finished", "--metric", "acc", "--json").json
    assert found["by"] == ["lr"]
    first = found["groups"][0]
    assert first["keys"] == {"lr": 0.1} and first["runs"] == ["aa0", "aa1"]
    assert first["metrics"]["acc"]["n"] == 2
    assert first["metrics"]["acc"]["mean"] == pytest.approx(0.91)
    assert first["metrics"]["acc"]["std"] == pytest.approx(0.0141421, abs=1e-6)
    assert "0.91 ± 0.014" in program("compare", "state=finished", "-m", "acc").out


def test_compare_by_other_keys_values_and_runs(program, digits):
    found = program("compare", "aa0", "aa1", "--by", "seed", "--stat", "last", "-m", "acc", "--json").json
    assert [(g["keys"]["seed"], g["metrics"]["acc"]["mean"]) for g in found["groups"]] == [
        (1, pytest.approx(0.87)),
        (0, pytest.approx(0.85)),
    ]
    assert program("compare", "--by", "nothing").code == 3
    assert program("compare", "--metric", "nothing").code == 3
    assert program("compare", "--stat", "median").code == 2


def test_a_comparison_can_be_kept_as_a_report_of_the_board(program, digits):
    said = program("compare", "state=finished", "-m", "acc", "--report", "Learning rates: 0.1 & 0.01")
    (report,) = reports(Home(program.home))
    assert "0.91 ± 0.014" in said.out and f"/reports/{report.id}" in said.out + said.err
    assert report.title == "Learning rates: 0.1 & 0.01"
    curves, results = (parse_qs(block.text) for block in report.blocks)
    assert curves["metric"] == ["acc"] and {"aa0", "aa1"} <= set(curves["run"])
    assert results == {**curves, "show": ["results"], "stat": ["best"]}
    found = program("compare", "aa0", "aa1", "--stat", "last", "--report", "another", "--json").json
    (other,) = [report for report in reports(Home(program.home)) if report.id == found["report"]]
    assert parse_qs(other.blocks[1].text)["stat"] == ["last"]


@pytest.mark.parametrize(("words", "code"), [(("--report", " "), 2), (("id=none", "--report", "x"), 3)])
def test_a_report_of_nothing_or_without_a_title_is_refused(program, digits, words, code):
    assert program("compare", *words).code == code
    assert list(reports(Home(program.home))) == []


def test_compare_says_how_many_were_nan(program, digits):
    out = program("compare", "bb1", "-m", "loss", "--stat", "last").out
    assert "(1 NaN)" in out


def test_diff_shows_only_what_differs(program, digits):
    assert program("diff", "aa0", "aa2").out.splitlines() == [
        "config  digits-0 (aa0)  digits-2 (aa2)",
        "lr      0.1             0.01",
    ]
    rows = program("diff", "aa0", "aa2", "--all", "--json").json["config"]
    assert {row["key"]: row["equal"] for row in rows} == {
        "lr": False,
        "seed": True,
        "model.name": True,
        "model.depth": True,
    }


def test_diff_of_packages_and_code(program, digits, write, keep_code):
    for run_id, text in (("ee1", b"a = 1\n"), ("ee2", b"a = 2\n")):
        snapshot = keep_code({"train.py": text, "same.py": b"x\n"})
        write(run_id, code={"root": "/r", "script": "train.py", "snapshot": snapshot, "git": None})
    out = program("diff", "ee1", "ee2", "--code").out
    assert "-a = 1" in out and "+a = 2" in out and "same.py" not in out
    (code,) = program("diff", "ee1", "ee2", "--code", "--json").json["code"]
    assert [file["path"] for file in code["files"]] == ["train.py"]
    packages = program("diff", "aa0", "aa1", "--env", "--json").json["packages"]
    assert packages == [{"key": "torch", "values": {"aa0": "2.0", "aa1": "2.1"}, "equal": False}]
    assert "no code snapshot" in program("diff", "aa0", "ee1", "--code").out


def test_diff_needs_two_different_runs(program, digits):
    assert program("diff", "aa0").code == 2
    assert "same run" in program("diff", "aa0", "digits-0").err

"""Long tables of points: the same rows by every library, whole or not at all."""

from __future__ import annotations

import json
import math
from array import array

import pytest

from paddock.catalog.series import Batch
from paddock.compare import points
from paddock.errors import UsageError


def batches() -> list[Batch]:
    return [
        Batch(
            "r1",
            "loss",
            {},
            0,
            1,
            array("q", [0, 1, 2]),
            array("d", [1.5, 2.5, 3.5]),
            array("d", [0.1, math.nan, math.inf]),
        ),
        Batch("r1", "count", {"split": "a,b"}, 3, 2, array("q", [7]), array("d", [9.0]), array("q", [2**53])),
        Batch("r2", 'odd "name", with comma', {}, 0, 1, array("q", [-5]), array("d", [9.0]), array("d", [-math.inf])),
    ]


NAMES = {"r1": "first, run", "r2": "näme"}


@pytest.mark.parametrize("writer", [points._by_pyarrow, points._by_polars])
def test_parquet_by_either_library_holds_every_point(tmp_path, writer, monkeypatch):
    import polars

    monkeypatch.setattr(points, "_STRETCH", 2)  # several stretches
    assert writer(tmp_path / "p.parquet", batches(), NAMES) == 5
    found = polars.read_parquet(tmp_path / "p.parquet")
    assert found.columns == list(points.COLUMNS)
    rows = found.with_columns(polars.col("run", "name", "metric", "tags").cast(polars.String)).rows(named=True)
    assert [row["step"] for row in rows] == [0, 1, 2, 7, -5]
    assert rows[0]["name"] == "first, run" and rows[3]["tags"] == '{"split":"a,b"}' and rows[3]["rank"] == 3
    assert math.isnan(rows[1]["value"]) and rows[4]["value"] == -math.inf and rows[3]["value"] == 2.0**53
    assert [path.name for path in tmp_path.iterdir()] == ["p.parquet"]


@pytest.mark.parametrize("writer", [points._by_pyarrow, points._by_polars])
def test_no_points_still_make_a_table(tmp_path, writer):
    import polars

    assert writer(tmp_path / "p.parquet", [], {}) == 0
    assert polars.read_parquet(tmp_path / "p.parquet").columns == list(points.COLUMNS)


def test_text_formats_quote_and_keep_nan(tmp_path):
    import csv

    points.write_points(tmp_path / "p.csv", "csv", batches(), NAMES)
    with open(tmp_path / "p.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows[4]["metric"] == 'odd "name", with comma' and rows[0]["name"] == "first, run"
    assert [row["value"] for row in rows] == ["0.1", "nan", "inf", str(2**53), "-inf"]
    points.write_points(tmp_path / "p.jsonl", "jsonl", batches(), NAMES)
    lines = [json.loads(line) for line in (tmp_path / "p.jsonl").read_text().splitlines()]
    assert [line["value"] for line in lines] == [0.1, None, "inf", 2**53, "-inf"]
    assert lines[3]["tags"] == {"split": "a,b"} and lines[3]["attempt"] == 2


def test_a_failure_half_way_leaves_the_old_file(tmp_path):
    def failing():
        yield batches()[0]
        raise RuntimeError("boom")

    (tmp_path / "p.csv").write_text("old")
    with pytest.raises(RuntimeError):
        points.write_points(tmp_path / "p.csv", "csv", failing(), NAMES)
    assert (tmp_path / "p.csv").read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 1


def test_a_place_that_cannot_be_is_told(tmp_path):
    for path in (tmp_path / "no" / "p.csv", tmp_path):
        with pytest.raises(UsageError):
            points.write_points(path, "csv", [], {})


def test_columns_of_mixed_types_become_text(tmp_path):
    import polars

    columns = {
        "a": [1, 2.5, None],
        "b": [1, "x", None],
        "c": [[1], None, None],
        "d": [None, None, None],
        "e": [(), ("t",), ()],
    }
    points.write_frame(tmp_path / "r.parquet", columns)
    found = polars.read_parquet(tmp_path / "r.parquet")
    assert found["a"].to_list() == [1.0, 2.5, None]
    assert found["b"].to_list() == ["1", "x", None]
    assert found["c"].to_list() == ["[1]", None, None]

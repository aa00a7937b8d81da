"""SQL over the catalog can only read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from paddock.catalog import query
from paddock.catalog.catalog import Catalog
from paddock.errors import UsageError


@pytest.fixture
def filled(field: Any, catalog: Catalog) -> Catalog:
    field.run(
        "a1", name="one", group="g", tags=["x"], config={"lr": 0.1, "model": {"depth": 3, "dims": [1, 2]}, "e": {}}
    )
    author = field.author("a1").rows(("loss", "acc"), [[i, i / 2, i] for i in range(10)])
    author.rows(("loss",), [[0, 7.0]], {"split": "val"})
    author.say(k="summary", set={"best": 3}).say(k="note", text="hello").end()
    field.run("b1", name="two", created=2000.0).author("b1").end(code=2, reason="exit")
    catalog.refresh()
    return catalog


def test_runs_can_be_asked_for(filled: Catalog) -> None:
    columns, rows = filled.sql("SELECT id, name, group_name, state, reason FROM runs ORDER BY created")
    assert columns == ["id", "name", "group_name", "state", "reason"]
    assert rows == [("a1", "one", "g", "finished", ""), ("b1", "two", None, "failed", "exit code 2")]


def test_config_is_json_and_also_flat(filled: Catalog) -> None:
    assert filled.sql("SELECT json_extract(config, '$.model.depth') FROM runs WHERE id = ?", ["a1"])[1] == [(3,)]
    rows = filled.sql("SELECT key, value FROM config ORDER BY key")[1]
    assert rows == [("e", "{}"), ("lr", 0.1), ("model.depth", 3), ("model.dims", "[1,2]")]
    assert filled.sql("SELECT * FROM summary")[1] == [("a1", "best", 3)]
    assert filled.sql("SELECT * FROM tags")[1] == [("a1", "x")]


def test_metrics_and_points_can_be_asked_for(filled: Catalog) -> None:
    rows = filled.sql("SELECT metric, last, last_step, max, count FROM metrics WHERE run = 'a1' ORDER BY metric")[1]
    assert rows == [("acc", 9.0, 9, 9.0, 10), ("loss", 4.5, 9, 4.5, 10), ("loss{split=val}", 7.0, 0, 7.0, 1)]
    assert filled.sql("SELECT count(*), sum(value) FROM Points WHERE metric = 'loss'")[1] == [(10, 22.5)]
    assert filled.sql("SELECT kind FROM records WHERE run = 'a1' ORDER BY time")[1] == [("note",), ("end",)]


@pytest.mark.parametrize(
    "text",
    [
        "DELETE FROM runs",
        "INSERT INTO runs (id) VALUES ('x')",
        "DROP TABLE runs",
        "CREATE TABLE mine (x)",
        "CREATE TEMP TABLE mine (x)",
        "PRAGMA query_only = OFF",
        "PRAGMA writable_schema = ON",
        "SELECT load_extension('x')",
        "SELECT 1; DELETE FROM runs",
        "BEGIN",
        "VACUUM",
        "SELEC 1",
        "SELECT nothing FROM runs",
        "SELECT * FROM nowhere",
        "",
    ],
)
def test_whatever_is_not_reading_is_refused_with_a_sentence(text: str, filled: Catalog) -> None:
    if not text:
        assert filled.sql(text) == ([], [])
        return
    with pytest.raises(UsageError, match="the tables are runs, metrics"):
        filled.sql(text)
    assert len(filled.runs()) == 2


def test_other_files_are_out_of_reach(filled: Catalog, tmp_path: Path) -> None:
    for text in ("ATTACH '{}' AS other", "VACUUM INTO '{}'"):
        with pytest.raises(UsageError):
            filled.sql(text.format(tmp_path / "other.sqlite"))
    assert not (tmp_path / "other.sqlite").exists()


def test_the_tables_can_be_listed(filled: Catalog) -> None:
    assert ("lr",) not in filled.sql("PRAGMA table_info(runs)")[1]
    names = {row[0] for row in filled.sql("SELECT name FROM sqlite_master")[1]}
    assert {"runs", "metrics", "config", "points"} <= names


def test_wrong_parameters_are_said_so(filled: Catalog) -> None:
    with pytest.raises(UsageError):
        filled.sql("SELECT ?", [])
    with pytest.raises(UsageError):
        filled.sql("SELECT ?", [object()])


ENDLESS = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) "


@pytest.mark.parametrize("select", ["SELECT count(*) FROM c", "SELECT n FROM c WHERE n < 0"])
def test_a_question_without_an_end_is_stopped_after_a_while(select: str, catalog: Catalog) -> None:
    with pytest.raises(UsageError, match=r"longer than 0\.1 seconds.*LIMIT"):
        query.ask(catalog, ENDLESS + select, limits=query.Limits(seconds=0.1))


def test_an_answer_without_an_end_is_stopped(catalog: Catalog) -> None:
    with pytest.raises(UsageError, match=r"more than 20,000 rows.*LIMIT"):
        query.ask(catalog, ENDLESS + "SELECT n FROM c", limits=query.Limits(rows=20_000))
    assert (
        len(query.ask(catalog, ENDLESS + "SELECT n FROM c LIMIT 20000", limits=query.Limits(rows=20_000))[1]) == 20_000
    )

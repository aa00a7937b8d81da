"""A refresh finds what changed, and only that."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable
from typing import Any

import pytest

from paddock import wire
from paddock.catalog.catalog import Catalog
from paddock.catalog.refresh import Refreshed
from paddock.errors import HomeError
from paddock.record.layout import Home


def old(field: Any, run_id: str, seconds: float = 3600.0) -> None:
    """As if nobody had touched the run's directory for long."""
    path = field.home.runs / run_id / "journal"
    when = path.stat().st_mtime - seconds
    os.utime(path, (when, when))


def test_an_empty_home_has_no_runs(catalog: Catalog) -> None:
    assert catalog.refresh() == Refreshed()
    assert catalog.runs() == []


def test_a_home_that_is_not_there_has_no_runs(field: Any, catalog: Catalog) -> None:
    field.author("a1").end()
    catalog.refresh()
    shutil.rmtree(field.home.path)
    assert catalog.refresh().removed == 1
    assert catalog.runs() == []


def test_a_runs_directory_that_is_a_file_is_said_so(home: Home, catalog: Catalog) -> None:
    home.runs.rmdir()
    home.runs.write_text("")
    with pytest.raises(HomeError, match="cannot be listed"):
        catalog.refresh()


def test_foreign_things_are_counted_and_left_alone(field: Any, catalog: Catalog) -> None:
    field.author("a1").end()
    (field.home.runs / "notes.txt").write_text("mine")
    (field.home.runs / "photos").mkdir()
    (field.home.runs / "not an id").mkdir()
    (field.home.runs / ".hidden").mkdir()
    (field.home.runs / "a1" / "journal" / "README").write_text("x")
    (field.home.runs / "a1" / "journal" / ".w1.jsonl.swp").write_text("x")
    assert catalog.refresh().foreign == 3
    assert [row.id for row in catalog.runs()] == ["a1"]
    assert len(catalog.writers("a1")) == 1


def test_a_link_to_itself_is_foreign(field: Any, catalog: Catalog) -> None:
    field.author("a1").end()
    (field.home.runs / "b1").symlink_to("b1")
    assert catalog.refresh().foreign == 1
    assert [row.id for row in catalog.runs()] == ["a1"]


def test_a_run_that_cannot_be_indexed_is_listed_as_such_beside_the_others(field: Any, catalog: Catalog) -> None:
    for run_id in ("a1", "b1", "c1"):
        field.author(run_id).rows(("loss",), [[0, 0.5]]).end()
    facts = field.home.runs / "b1" / "run.json"
    whole = facts.read_bytes()
    facts.write_bytes(b'{"config": ' + b'{"a": ' * 5000 + b"1" + b"}" * 5000 + b"}")
    catalog.refresh()
    assert {row.id: row.state for row in catalog.runs()} == {"a1": "finished", "b1": "lost", "c1": "finished"}
    assert catalog.run("b1").reason.startswith("cannot be indexed: RecursionError")
    assert catalog.refresh().changed == 0, "it is not read again at every look"
    facts.write_bytes(whole)
    db = catalog._store.db
    db.execute("UPDATE runs SET look_at = 0 WHERE id = 'b1'")
    catalog.refresh()
    assert (catalog.run("b1").state, catalog.run("b1").reason) == ("finished", "")


def test_runs_come_newest_first(field: Any, catalog: Catalog) -> None:
    for run_id, created in (("b", 5.0), ("a", 5.0), ("c", 7.0), ("d", 1.0)):
        field.run(run_id, created=created)
    catalog.refresh()
    assert [row.id for row in catalog.runs()] == ["c", "b", "a", "d"]


def test_a_removed_run_vanishes_with_all_its_points(field: Any, catalog: Catalog) -> None:
    for run_id in ("a1", "b1"):
        field.author(run_id).rows(("loss",), [[0, 0.5]]).say(k="note", text="x").end()
    catalog.refresh()
    shutil.rmtree(field.home.runs / "a1")
    assert catalog.refresh().removed == 1
    assert [row.id for row in catalog.runs()] == ["b1"]
    tables = ("runs", "cards", "writers", "blocks", "chunks", "metrics")
    db = catalog._store.db
    assert [db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in tables] == [1] * 6


def test_a_forgotten_run_is_no_longer_listed(field: Any, catalog: Catalog) -> None:
    field.author("a1").end()
    catalog.refresh()
    catalog.forget("a1")
    assert catalog.runs() == []
    catalog.forget("unknown")


def test_a_run_without_facts_is_listed_by_its_id(field: Any, catalog: Catalog) -> None:
    field.author("a1").rows(("loss",), [[0, 0.5]]).end()
    (field.home.runs / "a1" / "run.json").unlink()
    catalog.refresh()
    row = catalog.run("a1")
    assert (row.name, row.state, row.metrics["loss"].last) == ("a1", "finished", 0.5)
    assert row.created == catalog.writers("a1")[0].started
    assert catalog.facts("a1") == {}


@pytest.mark.parametrize("content", [b"", b"{", b"[1, 2]", b"\xff\xfe", b'{"name": "x"', b"null"])
def test_a_run_with_damaged_facts_is_listed_and_says_so(content: bytes, field: Any, catalog: Catalog) -> None:
    field.author("a1").end()
    (field.home.runs / "a1" / "run.json").write_bytes(content)
    catalog.refresh()
    row = catalog.run("a1")
    assert (row.name, row.state) == ("a1", "finished")
    assert "run.json is damaged" in row.reason
    assert catalog.facts("a1") == {}


def test_facts_of_strange_types_break_nothing(field: Any, catalog: Catalog) -> None:
    strange = {
        "name": 5,
        "project": None,
        "tags": "x",
        "config": [1],
        "command": "x",
        "host": 5,
        "code": "x",
        "created": "?",
    }
    field.run("a1", **strange).author("a1").end()
    catalog.refresh()
    row = catalog.run("a1")
    assert (row.name, row.project, row.tags, row.config, row.command) == ("5", "", (), {}, ())


def test_facts_that_arrive_late_are_taken(field: Any, catalog: Catalog) -> None:
    field.author("a1").end()
    facts = field.home.runs / "a1" / "run.json"
    content = facts.read_bytes()
    facts.unlink()
    old(field, "a1")
    catalog.refresh()
    facts.write_bytes(content.replace(b'"name":"a1"', b'"name":"late"'))
    catalog.refresh()
    assert catalog.run("a1").name == "late"


def test_facts_are_read_with_their_odd_floats(field: Any, catalog: Catalog) -> None:
    field.run("a1", config=wire.plain({"x": float("inf")}).value).author("a1").end()
    catalog.refresh()
    assert catalog.facts("a1")["config"] == {"x": float("inf")}
    assert catalog.run("a1").config == {"x": float("inf")}


def test_an_ended_run_is_not_looked_into_again(field: Any, catalog: Catalog) -> None:
    author = field.author("a1").rows(("loss",), [[0, 0.5]]).end()
    old(field, "a1")
    catalog.refresh()
    with author.path.open("ab") as file:  # nobody does that; it shows that nobody looks
        file.write(wire.row_line([0, 1, 1, 0.5]))
    assert catalog.refresh().bytes == 0


def test_an_ended_run_that_is_resumed_is_looked_into_again(field: Any, catalog: Catalog) -> None:
    field.author("a1").rows(("loss",), [[0, 0.5]]).end()
    old(field, "a1")
    catalog.refresh()
    field.author("a1", "w2", attempt=2).rows(("loss",), [[1, 0.25]])
    catalog.refresh()
    row = catalog.run("a1")
    assert (row.state, row.attempts, row.metrics["loss"].last) == ("running", 2, 0.25)


def test_two_journals_made_within_one_tick_are_both_found(field: Any, catalog: Catalog) -> None:
    field.author("a1", "w1").end()
    journals = field.home.runs / "a1" / "journal"
    tick = journals.stat().st_mtime_ns
    catalog.refresh()
    field.author("a1", "w2", role="annotation").say(k="note", text="second")
    os.utime(journals, ns=(tick, tick))
    catalog.refresh()
    assert catalog.run("a1").notes == "second"


def test_a_question_needs_no_write(field: Any, catalog: Catalog) -> None:
    field.author("a1").rows(("loss",), [[0, 0.5]])
    old(field, "a1")
    catalog.refresh()
    before = catalog._store.db.total_changes
    for _ in range(3):
        catalog.refresh()
        assert catalog.run("a1").state == "running"
    assert catalog._store.db.total_changes == before


READER = """
    import sys
    from pathlib import Path
    from paddock.catalog.catalog import Catalog
    from paddock.record.layout import Home
    with Catalog.open(Home(Path(sys.argv[1]))) as catalog:
        while True:
            catalog.refresh()
            rows = catalog.runs()
            if len(rows) == 40 and all(row.state == "finished" for row in rows):
                break
"""
WRITER = """
    import sys, os
    from pathlib import Path
    from paddock import wire
    from paddock.record.journal import Journal
    runs = Path(sys.argv[1]) / "runs"
    for number in range(40):
        (runs / f"r{number}" / "journal").mkdir(parents=True)
        (runs / f"r{number}" / "run.json").write_bytes(wire.dumps({"v": 1, "id": f"r{number}", "created": number}))
        journal = Journal(runs / f"r{number}" / "journal" / "w.jsonl", {"role": "main", "host": "h", "pid": 1})
        columns = journal.column_set(("loss", "acc"), {}, 0)
        for step in range(1000):
            journal.write(wire.row_line([columns.id, step, step, step / 2, step]))
        journal.append_now({"k": "end", "code": 0, "reason": "finished"})
        journal.close()
"""


def test_processes_that_refresh_at_once_lose_and_double_nothing(home: Home, opened: Callable[[], Catalog]) -> None:
    started = [
        subprocess.Popen([sys.executable, "-c", textwrap.dedent(code), str(home.path)])
        for code in (READER, READER, READER, WRITER)
    ]
    assert [process.wait(120) for process in started] == [0, 0, 0, 0]
    catalog = opened()
    assert catalog.refresh().bytes == 0
    assert len(catalog.runs()) == 40
    for batch in catalog.points([row.id for row in catalog.runs()]):
        assert batch.steps.tolist() == list(range(1000))
        assert batch.values[999] == (499.5 if batch.metric == "loss" else 999)
    assert all(stat.count == 1000 for row in catalog.runs() for stat in row.metrics.values())


def test_a_refresh_that_is_killed_leaves_an_index_that_goes_on(
    home: Home, field: Any, opened: Callable[[], Catalog]
) -> None:
    for number in range(30):
        field.author(f"r{number}").rows(("loss",), [[i, 0.5] for i in range(2000)]).end()
    for pause in (0.05, 0.15, 0.3, 0.5):
        process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(READER), str(home.path)])
        try:
            process.wait(pause)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    catalog = opened()
    catalog.refresh()
    assert [stat.count for row in catalog.runs() for stat in row.metrics.values()] == [2000] * 30


def test_a_long_journal_is_committed_in_stretches(
    field: Any, catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    from paddock.catalog import refresh

    monkeypatch.setattr(refresh, "COMMIT_BYTES", 100_000)
    for run_id in ("a1", "b1"):
        field.author(run_id).rows(("loss",), [[i, i / 3] for i in range(20_000)]).end()
    catalog.refresh()
    for run_id in ("a1", "b1"):
        assert catalog.series([run_id], "loss")[run_id].steps.tolist() == list(range(20_000))
        assert catalog.run(run_id).state == "finished"


def test_damaged_facts_of_an_ended_run_cost_no_writes_and_may_be_mended(field: Any, catalog: Catalog) -> None:
    field.author("a1").end()
    facts = field.home.runs / "a1" / "run.json"
    whole = facts.read_bytes()
    facts.write_bytes(whole[:-9])
    old(field, "a1")
    catalog.refresh()
    before = catalog._store.db.total_changes
    assert catalog.refresh().changed == 0
    assert catalog._store.db.total_changes == before
    assert catalog.run("a1").reason == "run.json is damaged"
    facts.write_bytes(whole)
    catalog.refresh()
    assert (catalog.run("a1").reason, catalog.run("a1").project) == ("", "p")


def test_a_run_of_another_host_that_was_silent_for_days_is_settled_until_it_speaks(
    field: Any, catalog: Catalog
) -> None:
    author = field.author("a1", host="far", boot="x")
    os.truncate(author.path, 0)
    author.journal.append({"k": "open", "t": 5.0, "role": "main", "host": "far", "boot": "x", "pid": 1, "attempt": 1})
    old(field, "a1")
    catalog.refresh()
    db = catalog._store.db
    settled, look_at = db.execute("SELECT settled, look_at FROM runs").fetchone()
    assert (settled, catalog.run("a1").state) == (2, "lost")
    author.rows(("loss",), [[0, 0.5]])
    assert catalog.refresh().bytes == 0  # not its turn yet
    db.execute("UPDATE runs SET look_at = look_at - 600")
    assert catalog.refresh().bytes > 0
    assert look_at > 0
    assert catalog.run("a1").metrics["loss"].last == 0.5


def test_a_metric_is_read_as_it_was_defined_by_name_or_by_pattern(field: Any, catalog: Catalog) -> None:
    writer = field.author("defined")
    writer.rows(("val/acc", "val/err", "epoch"), [[0, 0.5, 3.0, 0], [1, 0.75, 1.0, 1], [2, 0.25, 2.0, 2]])
    writer.say(k="metric", name="val/*", goal="max", best=False, x="epoch")
    writer.say(k="metric", name="val/err", goal="min", best=True, x=None)
    writer.say(k="info", set={"state.progress": 0.5}).say(k="info", set={"state.progress": 1.0})
    catalog.refresh()
    row = catalog.run("defined")
    assert row.goals == {"val/acc": "max", "val/err": "min"}
    assert row.axes == {"val/acc": "epoch"}
    assert row.summary == {"val/err.best": 1.0}
    assert row.info == {"state.progress": 1.0}

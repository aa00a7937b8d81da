"""Journals are read once, as far as they go, whatever state they are in."""

from __future__ import annotations

import gzip
import math
import os
import shutil
import zlib
from collections.abc import Callable
from typing import Any

import pytest

from paddock import wire
from paddock.catalog.catalog import Catalog

LOSS = ("loss",)


def steps(catalog: Catalog, run_id: str = "a1", metric: str = "loss") -> list[int]:
    return catalog.series([run_id], metric)[run_id].steps.tolist()


def count(catalog: Catalog, run_id: str = "a1", metric: str | None = None) -> int:
    return sum(len(batch.steps) for batch in catalog.points([run_id], metric))


def test_only_new_bytes_are_read(field: Any, catalog: Catalog) -> None:
    author = field.author("a1").rows(LOSS, [[i, 0.5] for i in range(1000)])
    assert catalog.refresh().bytes == author.path.stat().st_size
    assert catalog.refresh().bytes == 0
    before = author.path.stat().st_size
    author.rows(LOSS, [[1000, 0.5]])
    assert catalog.refresh().bytes == author.path.stat().st_size - before
    assert count(catalog) == 1001


def test_a_torn_line_is_read_when_it_is_complete(field: Any, catalog: Catalog) -> None:
    author = field.author("a1").rows(LOSS, [[0, 0.5]])
    line = wire.row_line([0, 1, 10, 0.25])
    os.write(author.journal.fd, line[:7])
    catalog.refresh()
    assert (steps(catalog), catalog.run("a1").damaged) == ([0], 0)
    os.write(author.journal.fd, line[7:])
    assert catalog.refresh().bytes == len(line)
    assert (steps(catalog), catalog.run("a1").damaged) == ([0, 1], 0)


def test_a_torn_line_that_nobody_can_complete_is_damage(field: Any, catalog: Catalog) -> None:
    author = field.author("a1").rows(LOSS, [[0, 0.5]])
    author.say(k="end", code=0, reason="finished")
    os.write(author.journal.fd, b"[0,1,10,0.2")
    catalog.refresh()
    row = catalog.run("a1")
    assert (row.damaged, row.state) == (1, "finished")
    assert catalog.writers("a1")[0].damaged == 1


def test_flipped_bits_cost_their_lines_and_are_counted(field: Any, catalog: Catalog) -> None:
    author = field.author("a1").rows(LOSS, [[i, i / 7] for i in range(500)]).end()
    lines = author.path.read_bytes().splitlines(keepends=True)
    for i in (100, 200, 300):
        middle = len(lines[i]) // 2
        lines[i] = lines[i][:middle] + bytes([lines[i][middle] ^ 4]) + lines[i][middle + 1 :]
    author.path.write_bytes(b"".join(lines))
    assert catalog.refresh().damaged == 3
    assert catalog.run("a1").damaged == 3
    assert count(catalog) == 497


def test_rows_before_their_declaration_are_kept_when_it_comes(field: Any, catalog: Catalog) -> None:
    author = field.author("a1")
    other = field.author("a1", "w2", rank=1).rows(("acc",), [[0, 1]])
    author.journal.write(wire.row_line([7, 0, 1, 0.5]))
    author.journal.write(wire.row_line([7, 1, 2, 0.25]))
    author.say(k="alert", title="t", text="x", level="info")
    catalog.refresh()
    assert catalog.run("a1").metrics.keys() == {"acc"}
    author.journal.append({"k": "columns", "id": 7, "names": ["loss"]})
    author.journal.write(wire.row_line([7, 2, 3, 0.125]))
    catalog.refresh()
    assert steps(catalog) == [0, 1, 2]
    assert count(catalog) == 4
    assert catalog.run("a1").alerts == 1
    assert len(catalog.records("a1", ["alert"])) == 1
    other.end()
    author.end()
    catalog.refresh()
    assert catalog.run("a1").state == "finished"


def test_a_damaged_first_line_loses_only_what_it_said(field: Any, catalog: Catalog) -> None:
    author = field.author("a1").rows(LOSS, [[0, 0.5]]).end()
    data = author.path.read_bytes()
    author.path.write_bytes(b"#" + data[1:])
    catalog.refresh()
    row = catalog.run("a1")
    assert (row.damaged, row.state, steps(catalog)) == (1, "finished", [0])


def test_a_line_longer_than_a_piece_is_read(field: Any, catalog: Catalog) -> None:
    author = field.author("a1")
    author.say(k="text", step=0, name="sample", text="x" * 1_000_000)
    author.rows(LOSS, [[0, 0.5]])
    assert catalog.refresh().bytes == author.path.stat().st_size
    assert len(catalog.records("a1", ["text"])[0]["text"]) == 1_000_000
    assert steps(catalog) == [0]


def test_a_hundred_small_refreshes_leave_few_rows(field: Any, catalog: Catalog) -> None:
    author = field.author("a1")
    for i in range(100):
        author.rows(("loss", "acc"), [[i, i / 2, i]])
        catalog.refresh()
    db = catalog._store.db
    assert db.execute("SELECT count(*) FROM blocks").fetchone() == (1,)
    assert db.execute("SELECT count(*) FROM chunks").fetchone() == (2,)
    assert steps(catalog) == list(range(100))
    assert catalog.series(["a1"], "acc")["a1"].values.typecode == "q"


def test_a_growing_index_equals_a_rebuilt_one(field: Any, catalog: Catalog, opened: Callable[[], Catalog]) -> None:
    author = field.author("a1")
    value = 0
    for size in (1, 5000, 3, 4095, 1, 9000, 64):
        author.rows(("loss", "acc"), [[i, math.sin(i), i % 7] for i in range(value, value + size)])
        value += size
        catalog.refresh()
    author.end()
    catalog.refresh()
    grown, row = catalog.series(["a1"], "loss")["a1"], catalog.run("a1")
    assert catalog.path is not None
    catalog.close()
    catalog.path.unlink()
    again = opened()
    again.refresh()
    assert again.series(["a1"], "loss")["a1"] == grown
    assert again.run("a1") == row
    assert len(grown) == value


def test_a_wide_row_does_not_make_the_open_block_large(field: Any, catalog: Catalog) -> None:
    names = tuple(f"m{i}" for i in range(5000))
    author = field.author("a1").rows(names, [[step, *([0.5] * 5000)] for step in range(70)])
    catalog.refresh()
    author.rows(names, [[70, *([0.5] * 5000)]])
    catalog.refresh()
    sizes = catalog._store.db.execute("SELECT n, open FROM blocks ORDER BY key").fetchall()
    assert sum(n for n, _ in sizes) == 71
    assert sizes[-1] == (1, 1)
    assert len(catalog.run("a1").metrics) == 5000


def test_a_packed_journal_is_known_again(field: Any, catalog: Catalog) -> None:
    author = field.author("a1").rows(LOSS, [[i, 0.5] for i in range(100)]).end()
    catalog.refresh()
    packed = author.path.with_name(author.path.name + ".gz")
    packed.write_bytes(gzip.compress(author.path.read_bytes()))
    author.path.unlink()
    assert catalog.refresh().bytes == 0
    assert (count(catalog), catalog.run("a1").state) == (100, "finished")


def test_a_packed_journal_is_read(field: Any, catalog: Catalog) -> None:
    author = field.author("a1").rows(LOSS, [[i, 0.5] for i in range(20_000)]).end()
    packed = author.path.with_name(author.path.name + ".gz")
    packed.write_bytes(gzip.compress(author.path.read_bytes()))
    author.path.unlink()
    catalog.refresh()
    assert count(catalog) == 20_000
    assert catalog.refresh().changed == 0 or catalog.refresh().bytes == 0


def test_a_packed_journal_with_other_content_is_read_anew(field: Any, catalog: Catalog) -> None:
    author = field.author("a1").rows(LOSS, [[i, 0.5] for i in range(100)]).end()
    catalog.refresh()
    lines = author.path.read_bytes().splitlines(keepends=True)
    author.path.with_name(author.path.name + ".gz").write_bytes(gzip.compress(b"".join(lines[:52])))
    author.path.unlink()
    catalog.refresh()
    assert count(catalog) == 50


def test_a_packed_journal_with_a_broken_end_gives_what_is_readable(field: Any, catalog: Catalog) -> None:
    author = field.author("a1").rows(LOSS, [[i, math.sin(i)] for i in range(20_000)]).end()
    whole = gzip.compress(author.path.read_bytes())
    author.path.with_name(author.path.name + ".gz").write_bytes(whole[: len(whole) // 2])
    author.path.unlink()
    catalog.refresh()
    assert 0 < count(catalog) < 20_000
    assert catalog.run("a1").damaged >= 1
    assert catalog.refresh().bytes == 0


def test_a_journal_that_became_shorter_is_read_anew(field: Any, catalog: Catalog) -> None:
    author = field.author("a1").rows(LOSS, [[i, 0.5] for i in range(100)])
    catalog.refresh()
    lines = author.path.read_bytes().splitlines(keepends=True)
    os.truncate(author.path, sum(map(len, lines[:12])))
    catalog.refresh()
    assert steps(catalog) == list(range(10))
    assert catalog.run("a1").metrics["loss"].count == 10


def test_a_journal_that_was_replaced_is_read_anew(field: Any, catalog: Catalog) -> None:
    field.author("a1").rows(LOSS, [[i, 0.5] for i in range(10)])
    catalog.refresh()
    shutil.rmtree(field.home.runs / "a1")
    field.author("a1").rows(("acc",), [[i, 1] for i in range(500)])
    catalog.refresh()
    assert catalog.run("a1").metrics.keys() == {"acc"}
    assert count(catalog) == 500


def test_a_copy_of_the_same_journal_is_not_read_anew(field: Any, catalog: Catalog) -> None:
    author = field.author("a1").rows(LOSS, [[i, 0.5] for i in range(10)]).end()
    catalog.refresh()
    copy = author.path.with_name("copy")
    shutil.copy(author.path, copy)
    copy.rename(author.path)
    assert catalog.refresh().bytes == 0
    assert count(catalog) == 10


def test_a_journal_that_vanished_takes_its_points_along(field: Any, catalog: Catalog) -> None:
    field.author("a1").rows(LOSS, [[0, 0.5]])
    second = field.author("a1", "w2").rows(("acc",), [[0, 1]])
    catalog.refresh()
    second.path.unlink()
    catalog.refresh()
    assert catalog.run("a1").metrics.keys() == {"loss"}
    assert len(catalog.writers("a1")) == 1


def test_config_and_summary_take_the_last_word_by_time(field: Any, catalog: Catalog) -> None:
    field.run("a1", config={"lr": 0.1, "seed": 1})
    author = field.author("a1")
    author.journal.append({"k": "config", "t": 20.0, "set": {"lr": 0.3, "nan": {"$float": "nan"}}})
    author.journal.append({"k": "summary", "t": 21.0, "set": {"best": 1}})
    catalog.refresh()
    later = field.author("a1", "w0")
    later.journal.append({"k": "config", "t": 10.0, "set": {"lr": 0.2, "new": True}})
    catalog.refresh()
    row = catalog.run("a1")
    assert math.isnan(row.config.pop("nan"))
    assert row.config == {"lr": 0.3, "seed": 1, "new": True}
    assert row.summary == {"best": 1}


@pytest.mark.parametrize("later_first", [False, True])
def test_a_later_attempt_has_the_last_word_whatever_the_clock_says(
    later_first: bool, field: Any, catalog: Catalog
) -> None:
    authors = [("w1", 1, 50.0, "old"), ("w2", 2, 10.0, "new")]
    for writer, attempt, t, value in reversed(authors) if later_first else authors:
        author = field.author("a1", writer, attempt=attempt)
        for kind in ("config", "summary", "info"):
            author.journal.append({"k": kind, "t": t, "set": {"x": value}})
        author.journal.append({"k": "tag", "t": t, "add" if value == "new" else "remove": ["q"]})
        author.journal.append({"k": "note", "t": t, "text": value})
        author.journal.append({"k": "star", "t": t, "on": value == "new"})
        author.journal.append({"k": "bug", "t": t, "on": value == "old"})
        author.end()
        catalog.refresh()
    row = catalog.run("a1")
    assert (row.config, row.summary, row.info) == ({"x": "new"}, {"x": "new"}, {"x": "new"})
    assert (row.tags, row.notes, row.star, row.bug) == (("q",), "new", True, False)


def test_what_a_person_said_counts_after_all_attempts(field: Any, catalog: Catalog) -> None:
    field.author("a1", attempt=3).say(k="note", text="the program's").end()
    person = field.author("a1", "w2", role="annotation", attempt=0)
    person.journal.append({"k": "note", "t": 5.0, "text": "mine"})
    catalog.refresh()
    assert catalog.run("a1").notes == "mine"


def test_a_config_that_looks_like_a_stand_in_is_kept(field: Any, catalog: Catalog) -> None:
    own = {"$float": "nan"}
    field.run("a1", config=wire.plain({"x": own, "y": {"$float": 3}}).value)
    field.author("a1").say(k="config", set=wire.plain({"$float": 0.5}).value).end()
    catalog.refresh()
    assert catalog.run("a1").config == {"x": own, "y": {"$float": 3}, "$float": 0.5}


def test_tags_notes_and_stars_come_from_the_records(field: Any, catalog: Catalog) -> None:
    field.run("a1", tags=["old", "keep"], notes="first")
    author = field.author("a1")
    author.say(k="tag", add=["new"], remove=["old"])
    author.say(k="note", text="second").say(k="star", on=True).say(k="bug", on=True).say(k="bug", on=False)
    author.say(k="metric", name="loss", goal="min", best=True, x=None)
    author.say(k="code", code={"snapshot": "abc", "git": {"commit": "c0ffee"}})
    author.say(k="dropped", counts={"disk": 2, "type": 1})
    catalog.refresh()
    row = catalog.run("a1")
    assert (row.tags, row.notes, row.star, row.bug) == (("keep", "new"), "second", True, False)
    assert (row.goals, row.code, row.commit, row.dropped) == ({"loss": "min"}, "abc", "c0ffee", 3)
    assert catalog.writers("a1")[0].dropped == {"disk": 2, "type": 1}


def test_records_come_in_the_order_of_time_with_their_writer(field: Any, catalog: Catalog) -> None:
    first, second = field.author("a1"), field.author("a1", "w2", role="annotation")
    second.journal.append({"k": "note", "t": 5.0, "text": "b"})
    first.journal.append({"k": "text", "t": 9.0, "step": 1, "name": "n", "text": "c"})
    first.journal.append({"k": "value", "t": 1.0, "step": 1, "name": "n", "value": {"$float": "inf"}})
    first.say(k="beat", n=1, oom=0)
    catalog.refresh()
    found = catalog.records("a1")
    assert [(record["k"], record["writer"]) for record in found] == [("value", "w1"), ("note", "w2"), ("text", "w1")]
    assert found[0]["value"] == math.inf
    assert [record["k"] for record in catalog.records("a1", ["note"])] == ["note"]


@pytest.mark.parametrize(
    "record",
    [
        {"k": "config", "set": 5},
        {"k": "columns", "id": "x", "names": ["a"]},
        {"k": "columns", "id": 3, "names": 5},
        {"k": "tag", "add": "x"},
        {"k": "metric", "name": 5},
        {"k": "open", "host": 5, "pid": "x", "rank": "r", "attempt": None, "t": "noon", "role": "boss"},
        {"k": "dropped", "counts": [1]},
        {"k": "beat", "t": None, "oom": "many"},
        {"k": 5},
        {"k": "from a later version", "t": 1},
    ],
)
def test_a_strange_record_breaks_nothing(record: dict[str, Any], field: Any, catalog: Catalog) -> None:
    author = field.author("a1")
    author.journal.append(record)
    author.rows(LOSS, [[0, 0.5]])
    catalog.refresh()
    assert (steps(catalog), catalog.run("a1").damaged) == ([0], 0)


def test_columns_declared_anew_under_a_used_number_do_not_mix(field: Any, catalog: Catalog) -> None:
    author = field.author("a1")
    author.journal.append({"k": "columns", "id": 0, "names": ["a", "b"]})
    author.journal.write(wire.row_line([0, 0, 1, 0.5, 0.6]))
    catalog.refresh()
    author.journal.append({"k": "columns", "id": 0, "names": ["c"]})
    author.journal.write(wire.row_line([0, 1, 1, 0.7]))
    catalog.refresh()
    assert {name: stat.last for name, stat in catalog.run("a1").metrics.items()} == {"a": 0.5, "b": 0.6, "c": 0.7}
    assert steps(catalog, metric="c") == [1]


def test_numbers_of_any_size_are_kept(field: Any, catalog: Catalog) -> None:
    field.run("a1", config={"seed": 1})
    facts = field.home.runs / "a1" / "run.json"
    facts.write_bytes(facts.read_bytes().replace(b'"seed":1', b'"seed":123456789012345678901234567890'))
    author = field.author("a1")
    line = b"[0,0,1,123456789012345678901234567890"
    author.journal.append({"k": "columns", "id": 0, "names": ["n"]})
    author.journal.write(b"%b,%d]\n" % (line, zlib.crc32(line)))
    body = b'{"k":"summary","t":1,"set":{"x":123456789012345678901234567890}'
    author.journal.write(b'%b,"crc":%d}\n' % (body, zlib.crc32(body)))
    catalog.refresh()
    row = catalog.run("a1")
    assert row.config == {"seed": "123456789012345678901234567890"}
    assert row.summary == {"x": "123456789012345678901234567890"}
    assert row.metrics["n"].last == 123456789012345678901234567890.0
    catalog.refresh()
    assert catalog.run("a1") == row


@pytest.mark.parametrize(
    "body",
    [
        b'{"k":"columns","id":9223372036854775808,"names":["x"]',
        b'{"k":"dropped","t":1,"counts":{"why":18446744073709551616}',
        b"[9223372036854775808,0,1,0.5",
        b"[0,9223372036854775808,1,0.5",
        b"[0,1,1" + b"0" * 400 + b",0.5",
    ],
)
def test_numbers_that_no_index_can_hold_are_damage(body: bytes, field: Any, catalog: Catalog) -> None:
    author = field.author("a1").rows(LOSS, [[0, 0.5]])
    crc = b',"crc":%d}\n' if body.startswith(b"{") else b",%d]\n"
    author.journal.write(body + crc % zlib.crc32(body))
    catalog.refresh()
    row = catalog.run("a1")
    assert (steps(catalog), row.damaged, row.dropped, row.reason) == ([0], 1, 0, "")


@pytest.mark.parametrize("member", ["t", "pid", "rank", "attempt", "oom"])
def test_a_number_beyond_reason_in_the_first_line_is_as_good_as_absent(
    member: str, field: Any, catalog: Catalog
) -> None:
    field.run("a1").author("a1", **{member: 10**400}).rows(LOSS, [[0, 0.5]]).end(t=10**400)
    catalog.refresh()
    assert (catalog.run("a1").state, catalog.run("a1").reason, steps(catalog)) == ("finished", "", [0])


def test_a_link_to_nowhere_among_the_journals_is_passed_over(field: Any, catalog: Catalog) -> None:
    field.author("a1").rows(LOSS, [[0, 0.5]]).end()
    (field.home.runs / "a1" / "journal" / "w2.jsonl").symlink_to("nowhere")
    catalog.refresh()
    assert (catalog.run("a1").state, steps(catalog)) == ("finished", [0])


@pytest.mark.parametrize("name", ["journal/w2.jsonl", "journal/w2.jsonl.gz", "run.json"])
def test_a_pipe_in_a_run_is_never_waited_for(name: str, field: Any, catalog: Catalog) -> None:
    field.author("a1").rows(LOSS, [[0, 0.5]]).end()
    path = field.home.runs / "a1" / name
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    catalog.refresh()
    assert (catalog.run("a1").state, steps(catalog), len(catalog.writers("a1"))) == ("finished", [0], 1)
    assert catalog.run("a1").reason == ("run.json is damaged" if name == "run.json" else "")
    catalog.refresh()


def test_a_directory_among_the_journals_is_no_journal(field: Any, catalog: Catalog) -> None:
    field.author("a1").rows(LOSS, [[0, 0.5]]).end()
    (field.home.runs / "a1" / "journal" / "w2.jsonl").mkdir()
    catalog.refresh()
    assert (catalog.run("a1").state, catalog.run("a1").reason) == ("finished", "")


def test_a_journal_that_cannot_be_read_is_named_and_tried_again(field: Any, catalog: Catalog) -> None:
    field.author("a1").rows(LOSS, [[0, 0.5]]).end()
    other = field.home.runs / "a1" / "journal" / "w2.jsonl"
    other.symlink_to("/proc/self/mem")  # as good as one without permission, also for root
    catalog.refresh()
    assert "journal w2 cannot be read (Input/output error)" in catalog.run("a1").reason
    other.unlink()
    field.author("a1", "w2").rows(("acc",), [[0, 1]]).end()
    catalog.refresh()
    row = catalog.run("a1")
    assert (row.state, row.reason, set(row.metrics)) == ("finished", "", {"loss", "acc"})


def test_a_run_that_has_facts_and_no_journal_never_started(field: Any, catalog: Catalog) -> None:
    field.run("a1")
    (field.home.runs / "a1" / "journal").rmdir()
    catalog.refresh()
    row = catalog.run("a1")
    assert (row.state, row.reason) == ("lost", "never started")
    assert catalog.refresh().changed == 0
    (field.home.runs / "a1" / "journal").mkdir()
    field.author("a1").rows(LOSS, [[0, 0.5]])
    catalog.refresh()
    assert catalog.run("a1").state == "running"

"""Reading with several processes gives the same index, whatever happens to them."""

from __future__ import annotations

import contextlib
import fcntl
import gzip
import marshal
import os
import signal
import sqlite3
import sys
import termios
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from paddock import wire
from paddock.catalog import readers
from paddock.catalog.catalog import Catalog
from paddock.catalog.piece import packed, read_pieces, unpacked
from paddock.catalog.reader import LENGTH_BYTES
from paddock.catalog.writer import Seen, unpack
from paddock.work.processes.process import children
from tests.waiting import until

READERS = 3


@pytest.fixture
def helped(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a machine with more processors, and as if these were many runs."""
    monkeypatch.setattr(readers, "_processors", lambda: READERS + 1)
    monkeypatch.setattr(readers, "LEAST_BYTES", 1)
    monkeypatch.setattr(readers, "BATCH_BYTES", 4096)
    monkeypatch.setattr(readers, "MOST_BYTES", 100_000)


@pytest.fixture
def fields(field: Any) -> Any:
    """Runs of every kind."""
    for n in range(30):
        author = field.author(f"run{n}").say(k="config", values={"n": n})
        author.rows(("loss", "acc"), [[i, i / (n + 1), 1 - i] for i in range(50 + n)])
        author.rows(
            ("lr",),
            [
                [
                    i,
                    0.1,
                ]
                for i in range(5)
            ],
            {"rank": n},
        )
        author.rows(("loss", "acc"), [[i, "inf", None] for i in range(50, 40, -1)]).end()
        field.author(f"run{n}", "w2", role="child", rank=1).rows(("loss",), [[3, n]])  # and lives
    field.author("large").rows(("loss",), [[i, i * 0.3] for i in range(9000)]).end()
    field.author("damaged").rows(("a",), [[i, i] for i in range(20)]).end()
    _change(field, "damaged", lambda data: data.replace(b"[0,7,", b"[0,9,").replace(b"[0,3,", b"\0\0\0\0\0"))
    field.author("torn").rows(("a",), [[i, i] for i in range(20)])
    _change(field, "torn", lambda data: data[:-9])
    field.author("late").rows(("a",), [[i, i] for i in range(20)]).end()
    _change(field, "late", _declared_last)
    field.author("unopened").rows(("a",), [[i, i] for i in range(20)]).end()
    _change(field, "unopened", lambda data: data[data.index(b"\n") + 1 :])
    field.author("longer").rows(("a",), [[1, 2], [2, 3, 4], [3, 4]]).end()
    field.author("huge").rows(("a",), [[1, 2]]).journal.write(wire.row_line([2**70, 1, 2, 3]))
    field.author("packed").rows(("a",), [[i, i] for i in range(20)]).end()
    path = field.home.runs / "packed/journal/w1.jsonl"
    Path(f"{path}.gz").write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()
    return field


def _change(field: Any, run: str, how: Any) -> None:
    path = field.home.runs / run / "journal/w1.jsonl"
    path.write_bytes(how(path.read_bytes()))


def _declared_last(data: bytes) -> bytes:
    lines = data.splitlines(keepends=True)
    (columns,) = [line for line in lines if b'"columns"' in line]
    return b"".join([line for line in lines if line != columns] + [columns])


def content(catalog: Catalog) -> dict[str, Any]:
    """All that the index says, without the numbers that depend on the order of reading, and the hour of it."""
    assert catalog.path is not None
    db = sqlite3.connect(catalog.path)
    points = db.execute(
        "SELECT r.id, w.name, m.metric, m.tags, b.n, b.open, b.rising, b.steps, b.times, b.line, b.lines, c.kind,"
        " c.data FROM chunks c JOIN blocks b ON b.key = c.block JOIN metrics m ON m.key = c.metric"
        " JOIN runs r ON r.key = m.run JOIN writers w ON w.key = b.writer ORDER BY 1, 2, 3, 4, 10"
    ).fetchall()
    metrics = db.execute("SELECT r.id, m.* FROM metrics m JOIN runs r ON r.key = m.run ORDER BY 1, 4, 5, 6").fetchall()
    records = db.execute("SELECT r.id, kind, body FROM records JOIN runs r ON r.key = run ORDER BY 1, 2, 3").fetchall()
    states = db.execute(
        "SELECT r.id, w.state FROM writers w JOIN runs r ON r.key = w.run ORDER BY 1, w.name"
    ).fetchall()
    db.close()
    known = [(run, _lasting(unpack(state))) for run, state in states]
    rows = {row.id: (row.state, row.name) for row in catalog.runs()}
    metrics = [(run, *more) for run, _, _, *more in metrics]
    return {"points": points, "metrics": metrics, "records": records, "writers": known, "rows": rows}


def _lasting(seen: Seen) -> list[Any]:
    return [getattr(seen, name) for name in ("name", "offset", "checksum", "head", "lines", "rows", "damaged", "torn")]


def indexed(field: Any, cache: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.setenv("PADDOCK_CACHE", str(cache))
    with Catalog.open(field.home) as catalog:
        found = catalog.refresh()
        return content(catalog) | {"found": found}


def test_with_readers_the_index_is_the_same(
    fields: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    alone = indexed(fields, tmp_path / "alone", monkeypatch)
    request.getfixturevalue("helped")
    helped = indexed(fields, tmp_path / "helped", monkeypatch)
    assert alone.keys() == helped.keys()
    for what in alone:
        assert helped[what] == alone[what], what
    assert len(alone["points"]) > 100 and len(alone["rows"]) == 38


def test_readers_that_die_are_not_missed(
    fields: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    alone = indexed(fields, tmp_path / "alone", monkeypatch)
    request.getfixturevalue("helped")
    whole, before = readers.in_turn, set(children(os.getpid()))

    def murderous(base: str, runs: list[str]) -> Iterator[Any]:
        for n, turn in enumerate(whole(base, runs)):
            for pid in set(children(os.getpid())) - before if n in (0, 6) else ():
                os.kill(pid, signal.SIGKILL)
            yield turn

    monkeypatch.setattr("paddock.catalog.refresh.in_turn", murderous)
    assert indexed(fields, tmp_path / "helped", monkeypatch) == alone
    assert set(children(os.getpid())) <= before


def test_an_answer_that_came_with_the_one_before_is_not_waited_for(fields: Any) -> None:
    """Else whoever asks first for the runs of a home waits for ever."""
    with contextlib.ExitStack() as stack:
        reader = readers.Reader.start(stack)
        assert reader is not None and reader.give(readers.Batch(["a"], [])) and reader.give(readers.Batch(["b"], []))
        until(lambda: _waiting(reader) >= 2 * (LENGTH_BYTES + len(marshal.dumps({}))))
        for run in ("a", "b"):
            assert readers._ready([reader], wait=False) == [reader]
            assert reader.take() == (readers.Batch([run], []), {})


def _waiting(reader: readers.Reader) -> int:
    """Bytes in its pipe."""
    return int.from_bytes(fcntl.ioctl(reader.fileno(), termios.FIONREAD, bytes(4)), sys.byteorder)


def test_each_run_comes_once_and_most_come_read(fields: Any, helped: None) -> None:
    runs = sorted(os.listdir(fields.home.runs))
    turns = list(readers.in_turn(str(fields.home.runs), runs))
    assert sorted(run for run, _ in turns) == runs
    assert any(pieces for _, pieces in turns)


def test_a_little_is_read_without_help(fields: Any) -> None:
    before = set(children(os.getpid()))
    for _, pieces in readers.in_turn(str(fields.home.runs), sorted(os.listdir(fields.home.runs))):
        assert not pieces and set(children(os.getpid())) <= before


def test_readers_end_when_nobody_asks_any_more(fields: Any, helped: None) -> None:
    before = set(children(os.getpid()))
    turns = readers.in_turn(str(fields.home.runs), sorted(os.listdir(fields.home.runs)))
    next(turns)
    assert len(set(children(os.getpid())) - before) == READERS
    turns.close()  # type: ignore[attr-defined]
    assert set(children(os.getpid())) <= before


def test_a_piece_is_the_same_on_the_other_side(fields: Any) -> None:
    with open(fields.home.runs / "run3/journal/w1.jsonl", "rb") as stream:
        pieces = list(read_pieces(stream))
    sent = [packed(piece) for piece in pieces]  # compared so, because NaN is equal to nothing
    assert sent and [packed(unpacked(piece)) for piece in sent] == sent

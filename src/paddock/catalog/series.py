"""Points out of the index: one metric of many runs as arrays, or everything in batches of columns."""

from __future__ import annotations

import sqlite3
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, compress, islice, pairwise
from operator import itemgetter, lt
from typing import Any, NamedTuple

from paddock import wire
from paddock.catalog.blocks import unfolded
from paddock.catalog.metrics import spelled
from paddock.errors import UsageError
from paddock.model import Series

_BATCH_METRICS = 64  # whose blobs are in memory at once


class Batch(NamedTuple):
    """A stretch of points of one metric, as they were written: nothing sorted, nothing left out."""

    run: str
    metric: str
    tags: dict[str, Any]
    rank: int
    attempt: int
    steps: array[int]  # int64
    times: array[float]  # float64, seconds since the epoch
    values: array[Any]  # float64 or int64


class _Wanted(NamedTuple):
    key: int
    run: str
    tags: str
    rank: int


class _Piece(NamedTuple):
    attempt: int
    block: int
    writer: int
    columns: int
    n: int
    rising: int
    first: int
    last: int
    steps: bytes
    times: bytes
    kind: str
    data: bytes


def series(
    db: sqlite3.Connection,
    run_ids: Sequence[str],
    metric: str,
    rank: int | None = None,
    tags: Mapping[str, Any] | None = None,
) -> dict[str, Series]:
    rows = db.execute(
        "SELECT m.key, r.id, m.tags, m.rank FROM json_each(?) AS wanted JOIN runs AS r ON r.id = wanted.value"
        " JOIN metrics AS m ON m.run = r.key AND m.metric = ? WHERE m.count > 0",
        (_json(run_ids), metric),
    )
    offered: dict[str, list[_Wanted]] = {}
    for row in rows:
        offered.setdefault(row[1], []).append(_Wanted(*row))
    chosen = {}
    for run_id in run_ids:
        entry = _choose(offered.get(run_id, []), metric, rank, tags)
        if entry is not None:
            chosen[entry.key] = entry
    pieces = _pieces(db, list(chosen))
    found = {}
    for key, entry in chosen.items():
        steps, times, values = _joined(db, pieces[key])
        found[entry.run] = Series(
            run=entry.run, metric=metric, steps=steps, values=values, times=times, tags=_tags(entry.tags)
        )
    return found


def new_points(
    db: sqlite3.Connection, run_id: str, metric: str, seen: Mapping[int, int], tags: Mapping[str, Any] | None = None
) -> tuple[Series | None, dict[int, int]]:
    """What was written since, in the order of writing. `seen` are how many rows of each block were: a block only ever
    grows, so of a long series no more is read than its last blocks."""
    rows = db.execute(
        "SELECT m.key, r.id, m.tags, m.rank FROM runs AS r JOIN metrics AS m ON m.run = r.key AND m.metric = ?"
        " WHERE r.id = ? AND m.count > 0",
        (metric, run_id),
    )
    entry = _choose([_Wanted(*row) for row in rows], metric, None, tags)
    if entry is None:
        return None, {}
    sizes: dict[int, int] = dict(
        db.execute(
            "SELECT b.key, b.n FROM chunks AS c CROSS JOIN blocks AS b ON b.key = c.block WHERE c.metric = ?",
            (entry.key,),
        ).fetchall()
    )
    grown = [block for block, n in sizes.items() if n > seen.get(block, 0)]
    steps, times, values = array("q"), array("d"), array("d")
    for block in sorted(grown):
        row = db.execute(
            "SELECT b.steps, b.times, c.kind, c.data FROM blocks AS b JOIN chunks AS c ON c.block = b.key"
            " WHERE b.key = ? AND c.metric = ?",
            (block, entry.key),
        ).fetchone()
        start = seen.get(block, 0)
        steps += array("q", row[0])[start:]
        times += array("d", row[1])[start:]
        values += array("d", array(row[2], row[3])[start:])
    return Series(entry.run, metric, steps, values, times, _tags(entry.tags)), sizes


def _choose(offered: list[_Wanted], metric: str, rank: int | None, tags: Mapping[str, Any] | None) -> _Wanted | None:
    if rank is not None:
        offered = [entry for entry in offered if entry.rank == rank]
    if tags is not None:
        wanted = spelled(tags)  # a tag typed as text means the number that looks like it
        offered = [entry for entry in offered if spelled(_tags(entry.tags)) == wanted]
    elif any(not entry.tags for entry in offered):
        offered = [entry for entry in offered if not entry.tags]
    elif len({entry.tags for entry in offered}) > 1:
        sets = "; ".join(sorted({spelled(_tags(entry.tags)) for entry in offered}))
        raise UsageError(
            f"{metric!r} of run {offered[0].run} was logged with several sets of tags.",
            hint=f"Choose one of: {sets}.",
        )
    return min(offered, key=lambda entry: entry.rank, default=None)


def _pieces(db: sqlite3.Connection, metrics: list[int]) -> dict[int, list[_Piece]]:
    """No ORDER BY: SQLite would carry every blob through its sorter."""
    found: dict[int, list[_Piece]] = {key: [] for key in metrics}
    rows = db.execute(
        "SELECT c.metric, b.attempt, b.key, b.writer, b.columns, b.n, b.rising, b.first, b.last, b.steps, b.times,"
        " c.kind, c.data FROM json_each(?) AS wanted CROSS JOIN chunks AS c ON c.metric = wanted.value"
        " CROSS JOIN blocks AS b ON b.key = c.block",
        (str(metrics),),
    )
    for key, *piece in rows:
        found[key].append(_Piece(*piece))
    for pieces in found.values():
        if len(pieces) > 1:
            pieces.sort(key=itemgetter(0, 1))
    return found


def _joined(db: sqlite3.Connection, pieces: list[_Piece]) -> tuple[array[int], array[float], array[Any]]:
    """By step, the last written value of each."""
    steps = array("q", b"".join([p.steps for p in pieces]))
    times = array("d", b"".join([p.times for p in pieces]))
    values = _values(pieces)
    whole = all(p.rising for p in pieces)
    if whole and all(a.last < b.first for a, b in pairwise(pieces)):
        return steps, times, values
    order = sorted(range(len(steps)), key=steps.__getitem__)
    ordered = [steps[i] for i in order]
    if not all(map(lt, ordered, islice(ordered, 1, None))):
        newest = {steps[i]: i for i in _as_written(db, pieces, times)}
        order = [newest[step] for step in sorted(newest)]
    return _picked(steps, order), _picked(times, order), _picked(values, order)


def _as_written(db: sqlite3.Connection, pieces: list[_Piece], times: array[float]) -> Iterable[int]:
    """The points in the order of their writing. Within a journal that is the order of its lines, even where the clock
    was set back; between two journals the time decides, and their names where that is the same. Attempts follow each
    other, whatever the clocks of their hosts say."""
    attempts: dict[int, dict[int, list[int]]] = {}
    sets: dict[int, set[int]] = {}
    at = 0
    for piece in pieces:
        rows = attempts.setdefault(piece.attempt, {}).setdefault(piece.writer, [])
        rows.extend(range(at, at + piece.n))
        sets.setdefault(piece.writer, set()).add(piece.columns)
        at += piece.n
    lines = _lines(db, pieces) if any(len(columns) > 1 for columns in sets.values()) else array("q")
    names = _names(db, list(sets)) if len(sets) > 1 else {}
    for journals in attempts.values():
        for writer, rows in journals.items():
            if len(sets[writer]) > 1:
                rows.sort(key=lines.__getitem__)
        if len(journals) == 1:
            yield from next(iter(journals.values()))
            continue
        moments = [
            (moment, names.get(writer, ""), row)
            for writer, rows in journals.items()
            for moment, row in zip(accumulate((times[i] for i in rows), max), rows, strict=True)
        ]
        moments.sort(key=itemgetter(0, 1))
        yield from (row for _, _, row in moments)


def _lines(db: sqlite3.Connection, pieces: list[_Piece]) -> array[int]:
    """Where each point stands in its journal. Asked for only where it matters."""
    rows = db.execute(
        "SELECT b.key, b.line, b.lines FROM json_each(?) AS wanted JOIN blocks AS b ON b.key = wanted.value",
        (str([piece.block for piece in pieces]),),
    )
    known = {key: (line, lines) for key, line, lines in rows}
    found = array("q")
    for piece in pieces:
        found.extend(unfolded(*known[piece.block], piece.n))
    return found


def _names(db: sqlite3.Connection, writers: list[int]) -> dict[int, str]:
    wanted = "SELECT w.key, w.name FROM json_each(?) AS wanted JOIN writers AS w ON w.key = wanted.value"
    return dict(db.execute(wanted, (str(writers),)).fetchall())


def _values(pieces: list[_Piece]) -> array[Any]:
    kinds = {p.kind for p in pieces}
    if len(kinds) == 1:
        return array(kinds.pop(), b"".join([p.data for p in pieces]))
    joined = array("d")
    for piece in pieces:
        joined += array("d", array(piece.kind, piece.data))
    return joined


def _picked(column: array[Any], order: list[int]) -> array[Any]:
    return array(column.typecode, [column[i] for i in order])


def points(db: sqlite3.Connection, run_ids: Sequence[str], metric: str | None = None) -> Iterator[Batch]:
    rows = db.execute(
        "SELECT m.key, r.id, m.metric, m.tags, m.rank FROM json_each(?) AS wanted JOIN runs AS r ON r.id = wanted.value"
        " JOIN metrics AS m ON m.run = r.key WHERE m.count > 0 ORDER BY wanted.key, m.key",
        (_json(run_ids),),
    ).fetchall()
    if metric is not None:
        rows = list(compress(rows, [row[2] == metric for row in rows]))
    for start in range(0, len(rows), _BATCH_METRICS):
        some = rows[start : start + _BATCH_METRICS]
        pieces = _pieces(db, [row[0] for row in some])
        for key, run, name, tags, rank in some:
            shared = _tags(tags)
            for p in pieces[key]:
                yield Batch(
                    run, name, shared, rank, p.attempt, array("q", p.steps), array("d", p.times), array(p.kind, p.data)
                )


def _tags(text: str) -> dict[str, Any]:
    return wire.loads(text) if text else {}


def _json(run_ids: Sequence[str]) -> str:
    return wire.dumps(list(run_ids)).decode()

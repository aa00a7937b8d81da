"""The columns of a journal's rows, as the index stores them.

Decoding dominates the cost of a point, so the common case (numbers only, steps rising) takes no Python call per
value: `array` checks and converts, and only what it refuses is looked at one by one.
"""

from __future__ import annotations

import math
import sqlite3
from array import array
from collections.abc import Sequence
from itertools import islice
from operator import lt
from typing import Any, NamedTuple, TypeAlias

BLOCK_ROWS = 4096  # a block with so many rows is never touched again
BLOCK_VALUES = 1 << 18  # nor one with so many values: a wide row must not make its tail costly to rewrite
BLOCK_LEAST = 64
Lines: TypeAlias = "range | array[int]"  # a range, when they follow each other


class Table(NamedTuple):
    """Rows of one column set, as columns."""

    steps: array[int]
    times: array[float]
    lines: Lines  # which row of its journal each is
    values: list[array[Any]]
    marks: list[Mark]
    rising: bool
    damaged: int
    latest: float  # of the times


class Mark(NamedTuple):
    """What one metric came to in a stretch of rows. None is NaN for `last`, never a number for `min` and `max`."""

    last: float | None
    last_step: int
    last_time: float
    last_line: int
    min: float | None
    min_step: int
    max: float | None
    max_step: int
    n: int  # points


def tabulate(columns: Sequence[Sequence[Any]], width: int, opened: float, lines: Sequence[int]) -> Table:
    """`width` metrics from the columns of a journal's rows: steps, milliseconds, values..."""
    count = len(columns[0])
    if len(columns) != width + 2:
        empty: list[Sequence[Any]] = [()] * (width + 2)
        return tabulate(empty, width, opened, ())._replace(damaged=count)
    try:
        steps = array("q", columns[0])
        moments = [opened + ms / 1000 for ms in columns[1]]
        times = array("d", moments)
    except (TypeError, ValueError, OverflowError):
        good = [i for i in range(count) if _placed(columns[0][i], columns[1][i])]
        if len(good) == count:  # cannot be, but must not recurse for ever
            raise
        chosen = [[column[i] for i in good] for column in columns]
        rest = tabulate(chosen, width, opened, [lines[i] for i in good])
        return rest._replace(damaged=count - len(good))
    rising = all(map(lt, columns[0], islice(columns[0], 1, None)))
    at: Lines = lines if isinstance(lines, range) else array("q", lines)
    values, marks = [], []
    for column in columns[2:]:
        found, clean = to_array(column)
        values.append(found)
        made = mark(steps, times, at, found if clean is None else clean, rising, clean is not None)
        marks.append(_as_stored(made, int if found.typecode == "q" else float))
    return Table(steps, times, at, values, marks, rising, 0, max(moments, default=0.0))


def to_array(column: Sequence[Any]) -> tuple[array[Any], Sequence[Any] | None]:
    """The column as int64 when every value is a whole number, else as float64; and the column itself when it holds
    plain numbers only, which are quicker to go through than an array's."""
    try:
        return array("q", column), column
    except (TypeError, OverflowError):
        pass
    try:
        return array("d", column), column
    except (TypeError, OverflowError):
        return array("d", [_number(value) for value in column]), None


def _number(value: Any) -> float:
    """null is NaN, and infinities are written as strings."""
    if value is None:
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
    except (TypeError, ValueError):
        return math.nan


def _placed(step: Any, ms: Any) -> bool:
    return type(step) is int and -(2**63) <= step < 2**63 and type(ms) in (int, float) and abs(ms) < 2**63


NOTHING = Mark(None, 0, 0.0, 0, None, 0, None, 0, 0)


def mark(
    steps: array[int], times: array[float], lines: Lines, column: Sequence[Any], rising: bool, numbers: bool
) -> Mark:
    count = len(steps)
    if not count:
        return NOTHING
    if rising:
        at = count - 1
    else:
        top = max(steps)
        at = next(i for i in range(count - 1, -1, -1) if steps[i] == top)
    last = column[at]
    known = column if numbers else [value for value in column if value == value]
    low = high = None
    low_step = high_step = 0
    if known:
        low, high = min(known), max(known)
        low_step, high_step = steps[column.index(low)], steps[column.index(high)]
    last = last if last == last else None
    return Mark(last, steps[at], times[at], lines[at], low, low_step, high, high_step, count)


def _as_stored(mark: Mark, kind: type[int] | type[float]) -> Mark:
    """Of the kind that the column is stored as: truth is a number, and whole numbers among floats are floats."""
    last, low, high = (None if value is None else kind(value) for value in (mark.last, mark.min, mark.max))
    return mark._replace(last=last, min=low, max=high)


def shifted(places: Sequence[int], first: int) -> Sequence[int]:
    """Places within a stretch of a journal that begins with row `first`, as places within the journal."""
    if isinstance(places, range):
        return range(first, first + len(places))
    return [first + place for place in places]


def joined(one: Lines, other: Lines) -> Lines:
    if not one:
        return other
    if isinstance(one, range) and isinstance(other, range) and one.stop == other.start:
        return range(one.start, other.stop)
    return array("q", one) + array("q", other)


def folded(lines: Lines) -> tuple[int, bytes | None]:
    """The first of a block's lines, and all of them unless they follow each other, as they do in most journals."""
    if isinstance(lines, range):
        return lines.start, None
    return lines[0], None if lines[-1] - lines[0] == len(lines) - 1 else lines.tobytes()


def unfolded(first: int, lines: bytes | None, n: int) -> Lines:
    return range(first, first + n) if lines is None else array("q", lines)


class Tail:
    """The open block of one writer's columns: what is added to until it is full."""

    def __init__(
        self, db: sqlite3.Connection, writer: int, columns: int, attempt: int, metrics: list[int], fresh: bool
    ) -> None:
        """`fresh`: nothing of this writer is stored yet."""
        self.db, self.writer, self.columns, self.attempt, self.metrics = db, writer, columns, attempt, metrics
        self.key: int | None = None
        self.chunks: list[int] = []
        self._clear()
        if not fresh:
            self._load()

    def _clear(self) -> None:
        self.steps: array[int] = array("q")
        self.times: array[float] = array("d")
        self.lines: Lines = range(0)
        self.values: list[array[Any]] = [array("q") for _ in self.metrics]
        self.rising = True

    def _load(self) -> None:
        found = self.db.execute(
            "SELECT key, rising, steps, times, line, lines FROM blocks WHERE writer = ? AND columns = ? AND open = 1",
            (self.writer, self.columns),
        ).fetchone()
        if found is None:
            return
        chunks = self.db.execute(
            "SELECT key, kind, data FROM chunks WHERE block = ? ORDER BY key", found[:1]
        ).fetchall()
        if len(chunks) != len(self.metrics):
            # The same number was declared for other names: they begin a block of their own.
            self.db.execute("UPDATE blocks SET open = 0 WHERE key = ?", found[:1])
            return
        self.key, self.rising = found[0], bool(found[1])
        self.steps.frombytes(found[2])
        self.times.frombytes(found[3])
        self.lines = unfolded(found[4], found[5], len(self.steps))
        self.chunks = [chunk[0] for chunk in chunks]
        self.values = [array(kind, data) for _, kind, data in chunks]

    def add(self, table: Table) -> None:
        if not table.steps:
            return
        self.rising = self.rising and table.rising and (not self.steps or self.steps[-1] < table.steps[0])
        self.steps += table.steps
        self.times += table.times
        self.lines = joined(self.lines, table.lines)
        for i, new in enumerate(table.values):
            old = self.values[i]
            if old.typecode == new.typecode:
                old += new
            elif not old:
                self.values[i] = new
            else:
                self.values[i] = array("d", old) + array("d", new)
        if self._full():
            self.flush()

    def _full(self) -> bool:
        n = len(self.steps)
        return n >= BLOCK_ROWS or (n >= BLOCK_LEAST and n * len(self.metrics) >= BLOCK_VALUES)

    def flush(self) -> None:
        if not self.steps:
            return
        steps, full = self.steps, self._full()
        facts = (
            len(steps),
            int(not full),
            int(self.rising),
            steps[0],
            steps[-1],
            steps.tobytes(),
            self.times.tobytes(),
            *folded(self.lines),
        )
        if self.key is None:
            self.key = self.db.execute(
                "INSERT INTO blocks (writer, columns, attempt, n, open, rising, first, last, steps, times, line, lines)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (self.writer, self.columns, self.attempt, *facts),
            ).lastrowid
            for metric, column in zip(self.metrics, self.values, strict=True):
                cursor = self.db.execute(
                    "INSERT INTO chunks (metric, block, kind, data) VALUES (?, ?, ?, ?)",
                    (metric, self.key, column.typecode, column.tobytes()),
                )
                self.chunks.append(cursor.lastrowid or 0)
        else:
            self.db.execute(
                "UPDATE blocks SET n = ?, open = ?, rising = ?, first = ?, last = ?, steps = ?, times = ?, line = ?,"
                " lines = ? WHERE key = ?",
                (*facts, self.key),
            )
            self.db.executemany(
                "UPDATE chunks SET kind = ?, data = ? WHERE key = ?",
                [(c.typecode, c.tobytes(), key) for c, key in zip(self.values, self.chunks, strict=True)],
            )
        if full:
            self.key, self.chunks = None, []
            self._clear()

"""Samples that wait for a first checkpoint: all of the last minutes, and coarser ones of all the time before. However
long it takes, they need the same memory."""

from __future__ import annotations

from collections import deque
from operator import add
from typing import Any, NamedTuple

Row = list[Any]  # when, in seconds of the monotonic clock, and the values; None where a value is not known

FINE, COARSE = 600, 600  # rows


class Stretch(NamedTuple):
    """Rows of one pace. Each tells of the `every` seconds before it."""

    every: float
    rows: list[Row]


class Ring:
    def __init__(self, every: float, means: tuple[bool, ...], fine: int = FINE, coarse: int = COARSE) -> None:
        """`means`: of which values several become their mean; of the others the largest counts."""
        self._every, self._means = every, means
        self._fine, self._coarse = fine, coarse // 2 * 2
        self._rows: deque[Row] = deque()
        self._clear()

    def _clear(self) -> None:
        self._rows.clear()
        self._old: list[Row] = []
        self._each = 1  # samples in a row of the old ones
        self._open = _Open(self._means)  # the one that is not whole yet

    def add(self, row: Row) -> None:
        self._rows.append(row)
        if len(self._rows) <= self._fine:
            return
        self._open.add(self._rows.popleft())
        if self._open.samples < self._each:
            return
        self._old.append(self._open.row())
        self._open = _Open(self._means)
        if len(self._old) >= self._coarse:
            self._each *= 2
            pairs = zip(self._old[::2], self._old[1::2], strict=True)
            self._old = [_Open(self._means, *pair).row() for pair in pairs]

    def take(self) -> list[Stretch]:
        """Everything, the oldest first; the ring is empty then."""
        old = [*self._old, self._open.row()] if self._open.samples else self._old
        found = [Stretch(self._every * self._each, old), Stretch(self._every, list(self._rows))]
        self._clear()
        return [stretch for stretch in found if stretch.rows]

    def __len__(self) -> int:
        return len(self._rows) + len(self._old)


class _Open:
    """Several rows that are becoming one."""

    def __init__(self, means: tuple[bool, ...], *rows: Row) -> None:
        self._means, self.samples, self._at = means, 0, 0.0
        self._values: list[Any] = [None] * len(means)
        self._known = [0] * len(means)
        for row in rows:
            self.add(row)

    def add(self, row: Row) -> None:
        self.samples += 1
        self._at, *values = row
        for at, value in enumerate(values):
            if value is not None:
                before = self._values[at]
                self._known[at] += 1
                joined = add if self._means[at] else max
                self._values[at] = value if before is None else joined(before, value)

    def row(self) -> Row:
        several = zip(self._means, self._values, self._known, strict=True)
        return [self._at, *(round(v / n, 1) if mean and v is not None else v for mean, v, n in several)]

"""Fewer points of a series that look the same when drawn: of each stretch the first, the last, the least, the greatest.

A not-a-number stays too, the first of its stretch: where a training breaks must be seen at any distance.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from typing import Any

KEPT = 4  # points of a stretch, at most five with a NaN


def within(steps: array[int], first: int | None, last: int | None) -> tuple[int, int]:
    """Where the points from step `first` to step `last` begin and end."""
    start = 0 if first is None else bisect_left(steps, first)
    return start, len(steps) if last is None else max(start, bisect_right(steps, last))


def thinned(values: array[Any], start: int, end: int, most: int) -> list[int] | None:
    """The places to keep of those from `start` to `end`, about `most`; None when that is all of them."""
    if most <= 0 or end - start <= most:
        return None
    count = max(1, most // KEPT)
    kept: list[int] = []
    for number in range(count):
        left = start + (end - start) * number // count
        right = start + (end - start) * (number + 1) // count
        kept += _stretch(values, left, right)
    return kept


def _stretch(values: array[Any], left: int, right: int) -> list[int]:
    piece = values[left:right]
    if values.typecode == "d" and (total := sum(piece)) != total:
        return _broken_stretch(piece, left)
    low, high = piece.index(min(piece)), piece.index(max(piece))
    return [left + at for at in sorted({0, low, high, len(piece) - 1})]


def _broken_stretch(piece: array[Any], left: int) -> list[int]:
    """With a NaN in it, or infinities of both signs: comparing with a NaN says nothing."""
    known = [at for at, value in enumerate(piece) if value == value]
    kept = {0, len(piece) - 1}
    kept |= {next(at for at, value in enumerate(piece) if value != value)} if len(known) < len(piece) else set()
    kept |= {min(known, key=piece.__getitem__), max(known, key=piece.__getitem__)} if known else set()
    return [left + at for at in sorted(kept)]

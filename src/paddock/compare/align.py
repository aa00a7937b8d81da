"""Several series on one grid of steps, and what they come to at each."""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from paddock.compare.stats import summarize
from paddock.errors import UsageError
from paddock.model import Series

WAYS = ("union", "intersection", "last", "linear")


class Aligned(NamedTuple):
    """Values of each series at the same steps; NaN where a series has none there."""

    steps: array[int]
    values: dict[str, array[float]]


class Band(NamedTuple):
    """The middle and the spread over all series, step by step. std is NaN where only one has a number."""

    steps: array[int]
    mean: array[float]
    std: array[float]
    n: array[int]


def align(series: Mapping[str, Series], how: str = "union", grid: Iterable[int] | None = None) -> Aligned:
    """Put every series on the same steps.

    union          every step that any has; NaN where one has none
    intersection   the steps that all have
    last           every step; between its points a series keeps its last value (nothing before its first)
    linear         every step; between its points a series is interpolated (nothing outside its ends)

    `grid` names the steps instead.
    """
    if how not in WAYS:
        raise UsageError(f"Series cannot be aligned by {how!r}.", hint=f"Use one of {', '.join(WAYS)}.")
    steps = array("q", sorted(set(grid)) if grid is not None else _grid(list(series.values()), how))
    at = {"last": _last, "linear": _linear}.get(how, _exact)
    return Aligned(steps, {name: at(one, steps) for name, one in series.items()})


def band(aligned: Aligned) -> Band:
    """Mean, sample standard deviation and count at each step, over the series that have a number there."""
    columns = list(aligned.values.values())
    mean, std, n = array("d"), array("d"), array("q")
    for row in zip(*columns, strict=True) if columns else ():
        found = summarize(row)
        mean.append(math.nan if found.mean is None else found.mean)
        std.append(math.nan if found.std is None else found.std)
        n.append(found.n)
    return Band(aligned.steps, mean, std, n)


def _grid(series: Sequence[Series], how: str) -> list[int]:
    if not series:
        return []
    sets = [set(one.steps) for one in series]
    return sorted(set.intersection(*sets) if how == "intersection" else set.union(*sets))


def _exact(series: Series, steps: array[int]) -> array[float]:
    points = dict(zip(series.steps, series.values, strict=True))
    return array("d", [points.get(step, math.nan) for step in steps])


def _last(series: Series, steps: array[int]) -> array[float]:
    found = array("d")
    for step in steps:
        at = bisect_right(series.steps, step)
        found.append(series.values[at - 1] if at else math.nan)
    return found


def _linear(series: Series, steps: array[int]) -> array[float]:
    known, values = series.steps, series.values
    found = array("d")
    for step in steps:
        at = bisect_left(known, step)
        if at < len(known) and known[at] == step:
            found.append(values[at])
        elif at == 0 or at == len(known):
            found.append(math.nan)
        else:
            part = (step - known[at - 1]) / (known[at] - known[at - 1])
            found.append(values[at - 1] * (1 - part) + values[at] * part)
    return found

"""One metric over the steps, for groups of runs: the mean of each group and its spread."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta, Struct

from paddock.compare.align import align, band
from paddock.compare.view import check_metric, resolve
from paddock.errors import UsageError
from paddock.model import Series
from paddock.monitor.api.shapes import Number
from paddock.monitor.house import Found, House
from paddock.monitor.http.route import Call, Route

MOST_RUNS = 2000
Step = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]


class BandParams(Struct, frozen=True):
    metric: Annotated[str, Meta(description="A metric.", min_length=1)]
    group: Annotated[
        tuple[str, ...], Meta(description="Runs by id or name, with commas; repeatable.", min_length=1, max_length=200)
    ]
    points: Annotated[int, Meta(description="At most so many steps.", ge=2, le=10_000)] = 500
    first: Annotated[Step | None, Meta(description="From this step on.")] = None
    last: Annotated[Step | None, Meta(description="Up to this step.")] = None


class OneBand(Struct, frozen=True):
    """`std` is that of a sample, and null where only one run has a value; `n` is how many have. Between its points a
    run is taken to go straight; before its first and behind its last it has no value."""

    runs: list[str]
    steps: list[int]
    mean: Sequence[Number]
    std: Sequence[Number]
    n: list[int]


class Bands(Struct, frozen=True):
    """In the order of the groups."""

    bands: list[OneBand]


def bands(call: Call) -> Bands:
    house, params = call.house, call.params
    house.fresh()
    groups = [[house.find(name) for name in item.split(",") if name] for item in params.group]
    every = list({run.entry.row.id: run for group in groups for run in group}.values())
    if not every or len(every) > MOST_RUNS:
        raise UsageError(f"Name between one run and {MOST_RUNS:,}.", hint="?metric=loss&group=A,B&group=C,D")
    check_metric(params.metric, [run.entry.row for run in every])
    series = _series(house, every, params.metric)
    return Bands([_band([run.entry.row.id for run in group], series, params) for group in groups])


def _series(house: House, runs: list[Found], metric: str) -> dict[str, Series]:
    found: dict[str, Series] = {}
    for home in house.homes:
        rows = [run.entry.row for run in runs if run.home == home]
        if rows:
            catalog = house.catalog(home)
            name, tags = resolve(catalog, rows, metric, None)
            found |= catalog.series([row.id for row in rows], name, tags=tags)
    return found


def _band(group: list[str], series: dict[str, Series], params: BandParams) -> OneBand:
    some = {run: series[run] for run in group if run in series}
    grid = _grid(list(some.values()), params)
    found = band(align(some, "linear", grid))
    return OneBand(list(some), found.steps.tolist(), found.mean.tolist(), found.std.tolist(), found.n.tolist())


def _grid(series: list[Series], params: BandParams) -> list[int]:
    """The steps that any of them has; when they are too many, some of them, evenly, with the first and the last."""
    low = -math.inf if params.first is None else params.first
    high = math.inf if params.last is None else params.last
    steps = sorted({step for one in series for step in one.steps if low <= step <= high})
    if len(steps) <= params.points:
        return steps
    last = len(steps) - 1
    return [steps[round(at * last / (params.points - 1))] for at in range(params.points)]


ROUTES = [
    Route("GET", "/api/v1/bands", bands, "Mean and spread of a metric over groups of runs.", BandParams, answer=Bands),
]

"""Series: metrics of runs over their steps, as many points as can be seen."""

from __future__ import annotations

from array import array
from typing import Annotated, Any

from msgspec import Meta, Struct

from paddock.compare.view import check_metric, resolve
from paddock.errors import UsageError
from paddock.model import Series as Points
from paddock.monitor.api.shapes import Number
from paddock.monitor.house import Found, House
from paddock.monitor.http import encoding
from paddock.monitor.http.route import Call, Reply, Route
from paddock.monitor.view import thinning
from paddock.monitor.view.encoded import Want

MOST_SERIES = 10_000


Step = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
Rank = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]


class SeriesParams(Struct, frozen=True):
    run: Annotated[tuple[str, ...], Meta(description="A run by id or name; repeatable.", max_length=2000)]
    metric: Annotated[tuple[str, ...], Meta(description="A metric; repeatable.", min_length=1, max_length=200)]
    points: Annotated[
        int, Meta(description="About so many points a series, with every least and greatest; 0 is all.", ge=0, lt=2**31)
    ] = 2000
    first: Annotated[Step | None, Meta(description="From this step on.")] = None
    last: Annotated[Step | None, Meta(description="Up to this step.")] = None
    rank: Annotated[Rank | None, Meta(description="Of this rank instead of the lowest.")] = None
    times: Annotated[bool, Meta(description="With the time of each point.")] = False


class OneSeries(Struct, frozen=True):
    """`count` points lie between the steps that were asked for; `steps` and `values` are those that were kept."""

    run: str
    metric: str
    tags: dict[str, Any]
    count: int
    steps: list[int]
    values: list[Number]
    times: list[float] | None = None


class SeriesList(Struct, frozen=True):
    """Runs that never logged a metric are not among them."""

    series: list[OneSeries]


def series(call: Call) -> Reply:
    house, params = call.house, call.params
    if not params.run:
        raise UsageError("No run is named.", hint="?run=ID&metric=NAME; both can be repeated.")
    if len(params.run) * len(params.metric) > MOST_SERIES:
        raise UsageError(f"More than {MOST_SERIES:,} series at once.", hint="Ask for fewer runs or metrics.")
    house.fresh()
    found = list({run.entry.row.id: run for run in map(house.find, params.run)}.values())
    parts: list[bytes] = []
    for metric in dict.fromkeys(params.metric):
        check_metric(metric, [run.entry.row for run in found])
        parts += _metric(house, found, metric, params)
    return Reply(b'{"series":[' + b",".join(parts) + b"]}")


def _metric(house: House, found: list[Found], metric: str, params: SeriesParams) -> list[bytes]:
    asked = (params.points, params.first, params.last, params.times)
    plain = params.rank is None
    wants = {
        run.entry.row.id: Want(run.entry.row.id, metric, asked, run.entry.row.metrics.get(metric)) for run in found
    }
    parts = {run_id: house.encoded.get(want) for run_id, want in wants.items() if plain and want.stat is not None}
    for home in house.homes:
        rows = [run.entry.row for run in found if run.home == home and parts.get(run.entry.row.id) is None]
        if not rows:
            continue
        catalog = house.catalog(home)
        name, tags = resolve(catalog, rows, metric, None)
        for run_id, points in catalog.series([row.id for row in rows], name, rank=params.rank, tags=tags).items():
            data = parts[run_id] = _encoded(points, metric, params)
            if plain and wants[run_id].stat is not None:
                house.encoded.put(wants[run_id], data)
    return [part for run_id in wants if (part := parts.get(run_id)) is not None]


def _encoded(points: Points, metric: str, params: SeriesParams) -> bytes:
    start, end = thinning.within(points.steps, params.first, params.last)
    places = thinning.thinned(points.values, start, end, params.points)
    columns = [points.steps, points.values, *([points.times] if params.times else [])]
    kept = [_picked(column, start, end, places) for column in columns]
    head = encoding.encode({"run": points.run, "metric": metric, "tags": points.tags, "count": end - start})
    body = b",".join(
        b'"%b":%b' % (name, encoding.numbers(column))
        for name, column in zip((b"steps", b"values", b"times"), kept, strict=False)
    )
    return head[:-1] + b"," + body + b"}"


def _picked(column: array[Any], start: int, end: int, places: list[int] | None) -> array[Any]:
    if places is None:
        return column if (start, end) == (0, len(column)) else column[start:end]
    return array(column.typecode, [column[at] for at in places])


ROUTES = [
    Route("GET", "/api/v1/series", series, "Metrics of runs over their steps.", SeriesParams, answer=SeriesList),
]

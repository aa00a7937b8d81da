"""Runs that agree in some keys, as one row each: mean, spread and count of their metrics."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from paddock.compare.fields import MISSING, spelled_out
from paddock.compare.grouped import GroupedTable, group_runs
from paddock.errors import UsageError
from paddock.monitor.api.shapes import Number
from paddock.monitor.board.orders import chosen, kept, rows_of
from paddock.monitor.board.table import Keys, keys_of
from paddock.monitor.http.route import Call, Route

MOST_GROUPS = 2000
MOST_IDS = 200  # of one group: as many as can be compared


class GroupParams(Struct, frozen=True):
    by: Keys
    q: Annotated[str, Meta(description="Which runs, in the query language of `paddock ls`.", max_length=10_000)] = ""
    metric: Keys = ()
    stat: Annotated[Literal["best", "last", "min", "max"], Meta(description="Which value of a run counts.")] = "best"
    sort: Annotated[str, Meta(description="A key of `by`, `runs` or a metric, by its mean; `-key` descending.")] = ""


class Spread(Struct, frozen=True):
    """`n` numbers, and `nan` values that were none. `std` is that of a sample; null for a single number."""

    mean: Number
    std: Number
    n: int
    nan: int
    min: Number
    max: Number


class OneGroup(Struct, frozen=True):
    """`keys` are the values that its runs agree in; `ids` are the first of its runs."""

    keys: dict[str, Any]
    runs: int
    states: dict[str, int]
    ids: list[str]
    metrics: dict[str, Spread]


class Groups(Struct, frozen=True):
    version: int
    total: int  # runs that fit
    count: int  # groups there are; some may be left out
    groups: list[OneGroup]


def groups(call: Call) -> Groups:
    house, params = call.house, call.params
    by, metrics = keys_of(params.by), keys_of(params.metric)
    if not by:
        raise UsageError("It is not said what to group by.", hint="?by=config.lr")
    house.fresh()

    def make() -> tuple[int, GroupedTable]:
        rows = rows_of(house, chosen(house, params.q))
        return len(rows), group_runs(rows, by, spelled_out(metrics, rows), params.stat)

    key = ("groups", params.q, tuple(by), tuple(metrics), params.stat)
    total, found = kept(house).get(key, house.version, make).value
    if params.sort:
        found = found.sort(params.sort)
    return Groups(house.version, total, len(found), [_group(one) for one in found.groups[:MOST_GROUPS]])


def _group(group: Any) -> OneGroup:
    return OneGroup(
        {key: None if value is MISSING else value for key, value in group.keys.items()},
        len(group.runs),
        dict(Counter(run.state for run in group.runs)),
        [run.id for run in group.runs[:MOST_IDS]],
        {name: Spread(s.mean, s.std, s.n, s.nan, s.min, s.max) for name, s in group.metrics.items()},
    )


ROUTES = [
    Route(
        "GET", "/api/v1/groups", groups, "Runs that agree in some keys, and their means.", GroupParams, answer=Groups
    ),
]

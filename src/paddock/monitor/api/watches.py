"""Watches: directories whose checkpoints are evaluated, and what became of each checkpoint."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct

from paddock.errors import NotFound
from paddock.evaluate.ledger.watches import Watch, watches
from paddock.monitor.api.shapes import Number
from paddock.monitor.http.route import Call, Route
from paddock.monitor.watches import evaluation_json, watch_json


class Evaluated(Struct, frozen=True):
    """One checkpoint and one evaluator. `waited` and `took` are seconds."""

    checkpoint: str
    step: int | None
    evaluator: str
    state: str
    reason: str
    values: dict[str, Any]
    found: float | None
    started: float | None
    ended: float | None
    waited: float | None
    took: float | None
    task: str
    run: str | None


class Best(Struct, frozen=True):
    metric: str
    value: Number
    checkpoint: str
    step: int | None


class Watched(Struct, frozen=True):
    watch: str
    directory: str
    evaluators: list[str]
    queues: list[str]
    watched: bool
    watchers: list[dict[str, Any]]
    counts: dict[str, int]
    last: Evaluated | None
    best: Best | None


class WatchList(Struct, frozen=True):
    watches: list[Watched]


class WatchDetail(Watched, frozen=True):
    """`total` checkpoints fit; `evaluations` are those of this page, in the order in which they were found."""

    total: int
    evaluations: list[Evaluated]


class WatchParams(Struct, frozen=True):
    state: Annotated[tuple[str, ...], Meta(description="Only evaluations in this state; repeatable.")] = ()
    limit: Annotated[int, Meta(ge=0, le=100_000)] = 1000
    offset: Annotated[int, Meta(ge=0, le=2**31)] = 0


def _known(call: Call) -> list[Watch]:
    return [watch for home in call.house.homes for watch in watches(home)]


def all_watches(call: Call) -> dict[str, Any]:
    return {"watches": [watch_json(call.house.standings.of(watch)) for watch in _known(call)]}


def watch(call: Call) -> dict[str, Any]:
    params = call.params
    one = next((found for found in _known(call) if found.id == call.path["watch"]), None)
    if one is None:
        raise NotFound("There is no such watch.", hint="GET /api/v1/watches lists them.")
    found = call.house.standings.of(one)
    fitting = [e for e in found.evaluations if not params.state or e.state in params.state]
    page = fitting[params.offset : params.offset + params.limit]
    return {
        **watch_json(found),
        "total": len(fitting),
        "evaluations": [evaluation_json(evaluation) for evaluation in page],
    }


ROUTES = [
    Route("GET", "/api/v1/watches", all_watches, "The watches, and how their evaluations stand.", answer=WatchList),
    Route(
        "GET",
        "/api/v1/watches/{watch}",
        watch,
        "Every checkpoint of a watch, and what became of it.",
        WatchParams,
        answer=WatchDetail,
    ),
]

"""Events as they happen: docs/reference/api.md says what each of them holds."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from paddock.errors import UsageError
from paddock.monitor.http.route import Call, Route
from paddock.monitor.live.stream import EventStream

MOST_TOPICS = 200
KINDS = ("runs", "queues", "watches", "questions")


class EventParams(Struct, frozen=True):
    only: Annotated[
        str,
        Meta(description="Only these of runs,queues,watches,questions; `none` for none."),
    ] = ",".join(KINDS)
    points: Annotated[tuple[str, ...], Meta(description="RUN:METRIC, new points of it; repeatable.")] = ()
    output: Annotated[tuple[str, ...], Meta(description="RUN, what it prints; repeatable.")] = ()
    lines: Annotated[tuple[str, ...], Meta(description="RUN, what its processes log; repeatable.")] = ()
    last: Annotated[str, Meta(description="As the header Last-Event-ID.", max_length=100)] = ""


def events(call: Call) -> EventStream:
    house, params = call.house, call.params
    house.fresh()
    kinds = [word.strip() for word in params.only.split(",") if word.strip()]
    unknown = [kind for kind in kinds if kind not in (*KINDS, "none")]
    if unknown:
        raise UsageError(f"There are no events {unknown[0]!r}.", hint=f"There are {', '.join(KINDS)}.")
    topics = [kind for kind in kinds if kind != "none"]
    for word in params.points:
        run, colon, metric = word.partition(":")
        if not colon or not metric:
            raise UsageError(f"{word!r} is no RUN:METRIC.")
        topics.append(f"points/{house.find(run).entry.row.id}/{metric}")
    topics += [f"output/{house.find(run).entry.row.id}" for run in params.output]
    topics += [f"lines/{house.find(run).entry.row.id}" for run in params.lines]
    if len(topics) > MOST_TOPICS:
        raise UsageError(f"More than {MOST_TOPICS} things are followed.", hint="Follow what is on the screen.")
    house.follow(topics)
    last = call.request.headers.get("last-event-id", "") or params.last
    return EventStream(house.hub, frozenset(topics), last)


ROUTES = [
    Route(
        "GET", "/api/v1/events", events, "Events as they happen, until you go.", EventParams, kind="text/event-stream"
    ),
]

"""What runs warn of, and what they ask people."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct

from paddock.errors import NotFound
from paddock.model import Question
from paddock.monitor.http.route import Call, Reply, Route
from paddock.record.answer import answer as write_answer


class Alert(Struct, frozen=True):
    run: str
    t: float
    level: str
    title: str
    text: str


class Alerts(Struct, frozen=True):
    """The newest first."""

    alerts: list[Alert]


class AlertParams(Struct, frozen=True):
    limit: Annotated[int, Meta(ge=0, le=10_000)] = 100


class Questions(Struct, frozen=True):
    """The oldest first; only of processes that live."""

    questions: list[Question]


class Answer(Struct, frozen=True, forbid_unknown_fields=True):
    text: Annotated[str, Meta(max_length=100_000)]


def alerts(call: Call) -> Alerts:
    house = call.house
    house.fresh()
    found: list[Alert] = []
    for roll in house.rolls:
        catalog = house.catalog(roll.home)
        for entry in roll.ordered:
            if entry.row.alerts:
                found += [_alert(entry.row.id, record) for record in catalog.records(entry.row.id, ("alert",))]
    found.sort(key=lambda alert: alert.t, reverse=True)
    return Alerts(found[: call.params.limit])


def _alert(run: str, record: dict[str, Any]) -> Alert:
    t = record.get("t")
    said = [str(record.get(name) or "") for name in ("level", "title", "text")]
    return Alert(run, float(t) if isinstance(t, (int, float)) else 0.0, *said)


def questions(call: Call) -> Questions:
    house = call.house
    house.fresh()
    found = [asked for home in house.homes for asked in house.catalog(home).questions()]
    return Questions(sorted(found, key=lambda asked: asked.asked))


def answer(call: Call) -> Reply:
    house = call.house
    house.fresh(at_once=True)  # the question may have been heard of elsewhere before the last look
    found = house.find(call.path["run"])
    row = found.entry.row
    asked = {one.id: one for one in house.catalog(found.home).questions(row.id)}
    wanted = asked.get(call.path["question"])
    if wanted is None:
        raise NotFound("Nobody waits for an answer to this.", hint="GET /api/v1/questions lists what is asked.")
    write_answer(found.directory, wanted, call.body.text)
    house.fresh(at_once=True)
    return Reply(status=204)


ROUTES = [
    Route("GET", "/api/v1/alerts", alerts, "What runs have warned of.", AlertParams, answer=Alerts),
    Route("GET", "/api/v1/questions", questions, "What processes ask and wait for.", answer=Questions),
    Route(
        "POST",
        "/api/v1/runs/{run}/questions/{question}/answer",
        answer,
        "Answer what a process asks.",
        body=Answer,
        status=204,
    ),
]

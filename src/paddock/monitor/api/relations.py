"""What belongs to a run: its parent and children, the tasks it waits for and those that wait for it, and the
evaluations of its checkpoints."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from paddock.evaluate.ledger.watches import watches
from paddock.monitor.api.shapes import Brief
from paddock.monitor.api.tasks import known
from paddock.monitor.api.watches import Evaluated
from paddock.monitor.house import House
from paddock.monitor.http.route import Call, Route
from paddock.monitor.watches import evaluation_json
from paddock.queue.order.leftover import OVER
from paddock.queue.protocol import AWAY
from paddock.queue.show.view import Entry, snapshot

MOST_READ = 5000  # files of tasks that may wait for this one


class Tied(Struct, frozen=True):
    """A task at the other end of a dependency: it waits until that one is over in this way."""

    id: str
    name: str
    queue: str
    state: str
    when: str


class Relations(Struct, frozen=True):
    """`after` are the tasks that it waits for, `dependents` those that wait for it; `more`: there may be others, in a
    queue too long to be read for this."""

    parent: Brief | None
    children: list[Brief]
    queue: str
    after: list[Tied]
    dependents: list[Tied]
    more: bool


class Evaluations(Struct, frozen=True):
    """Of checkpoints of this run, in the order in which they were found; `best` of those that name one."""

    evaluations: list[Evaluated]
    watches: list[str]
    best: list[str]


def relations(call: Call) -> Relations:
    house = call.house
    house.fresh()
    row = house.find(call.path["run"]).entry.row
    by_id = {entry.row.id: entry.row for entry in house.entries()}
    above = by_id.get(row.parent or "")
    queue, after, dependents, more = _ties(house, row.id)
    return Relations(
        Brief(above.id, above.name, above.project, above.state) if above is not None else None,
        [Brief(one.id, one.name, one.project, one.state) for one in by_id.values() if one.parent == row.id],
        queue,
        after,
        dependents,
        more,
    )


def _ties(house: House, task_id: str) -> tuple[str, list[Tied], list[Tied], bool]:
    for name, (_, queue) in known(house).items():
        try:
            entries = snapshot(queue).by_id()
        except AWAY:
            continue
        if task_id not in entries:
            continue
        own = entries[task_id].file
        after = [_tied(name, one.task, entries.get(one.task), one.when) for one in own.task.after] if own else []
        unsettled = [entry for entry in entries.values() if entry.state not in OVER]
        dependents = [
            _tied(name, entry.id, entry, one.when)
            for entry in unsettled[:MOST_READ]
            if entry.file is not None
            for one in entry.file.task.after
            if one.task == task_id
        ]
        return name, after, dependents, len(unsettled) > MOST_READ
    return "", [], [], False


def _tied(queue: str, task_id: str, entry: Entry | None, when: str) -> Tied:
    return Tied(task_id, entry.title if entry else "", queue, entry.state if entry else "gone", when)


def evaluations(call: Call) -> dict[str, Any]:
    house = call.house
    house.fresh()
    run_id = house.find(call.path["run"]).entry.row.id
    found: list[dict[str, Any]] = []
    of: list[str] = []
    winners: list[str] = []
    for home in house.homes:
        for watch in watches(home):
            stand = house.standings.of(watch)
            own = [one for one in stand.evaluations if one.finding.run == run_id]
            if own:
                of.append(watch.id)
                found += [evaluation_json(one) for one in own]
            best = stand.best
            if best is not None and best.evaluation.finding.run == run_id:
                winners.append(best.evaluation.finding.path)
    return {"evaluations": found, "watches": of, "best": winners}


ROUTES = [
    Route(
        "GET", "/api/v1/runs/{run}/relations", relations, "What a run waits for, and what it led to.", answer=Relations
    ),
    Route(
        "GET",
        "/api/v1/runs/{run}/evaluations",
        evaluations,
        "What became of the checkpoints of a run.",
        answer=Evaluations,
    ),
]

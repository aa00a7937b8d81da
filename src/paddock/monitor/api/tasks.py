"""Tasks of the homes' queues: what runs, what waits and why, and the orders that people give."""

from __future__ import annotations

import functools
import itertools
import os
from collections.abc import Container
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from paddock.errors import NotFound, Refused, UsageError
from paddock.monitor.house import House
from paddock.monitor.http.route import Call, Route
from paddock.queue.directory import DirectoryQueue
from paddock.queue.finding import known_queues, remember
from paddock.queue.order import cancelling, orders
from paddock.queue.order.orders import Step, carry_out, find, make_durable
from paddock.queue.order.transfer import check, refuse_unfit, transfer
from paddock.queue.protocol import Queue
from paddock.queue.show.roster import ALIVE
from paddock.queue.show.status import Status, owned, started, status
from paddock.queue.show.view import Entry, snapshot
from paddock.record.layout import Home
from paddock.work.processes.burial import bury

MOST_TASKS = 10_000
TaskState = Literal["queued", "checking", "active", "done", "failed", "paused"]
Limit = Annotated[int, Meta(ge=0, le=MOST_TASKS)]


class Counted(Struct, frozen=True):
    queue: str
    home: str
    path: str
    counts: dict[str, int]
    workers: int  # that live
    away: str = ""  # why nothing is known of it now: a Redis that does not answer


class Queues(Struct, frozen=True):
    queues: list[Counted]


class Task(Struct, frozen=True):
    """A task, which is also the run of this id."""

    id: str
    name: str
    queue: str
    state: str
    title: str
    priority: int = 0


class Running(Struct, frozen=True):
    task: Task
    worker: str
    host: str
    worker_state: str
    attempt: int
    started: float
    ranks: dict[str, str]
    remark: str


class Waiting(Struct, frozen=True):
    task: Task
    why: str


class QueueStatus(Struct, frozen=True):
    """`more` tasks wait beyond those that are told; `sure`: everything could be read."""

    queue: str
    path: str
    counts: dict[str, int]
    running: list[Running]
    waiting: list[Waiting]
    more: int
    strangers: list[str]
    sure: bool


class Tasks(Struct, frozen=True):
    total: int
    tasks: list[Task]


class Detail(Struct, frozen=True):
    """`facts` are the header of the task's file; `attempts` its history."""

    task: Task
    command: str
    facts: dict[str, Any]
    attempts: list[dict[str, Any]]
    trouble: str


class StatusParams(Struct, frozen=True):
    limit: Annotated[Limit, Meta(description="Waiting tasks that are told.")] = 100


class TasksParams(Struct, frozen=True):
    state: Annotated[tuple[TaskState, ...], Meta(description="Only tasks in this state; repeatable.")] = ()
    limit: Limit = 1000
    offset: Annotated[int, Meta(ge=0, le=2**31)] = 0


class Order(Struct, frozen=True, forbid_unknown_fields=True):
    """What is to be done to which tasks. `priority` goes with the order of that name, `to` with `move`; `wait` is for
    how many seconds `cancel` waits until the processes are gone."""

    order: Literal["cancel", "pause", "resume", "retry", "rerun", "priority", "move"]
    tasks: Annotated[tuple[str, ...], Meta(min_length=1, max_length=MOST_TASKS)]
    priority: Annotated[int, Meta(ge=-999_999_999, le=999_999_999)] | None = None
    to: str | None = None
    wait: Annotated[float, Meta(ge=0, le=60)] = 0.0


class Done(Struct, frozen=True):
    id: str
    before: str
    now: str | None  # None: it is in no queue any more
    remark: str = ""


class LeftOut(Struct, frozen=True):
    id: str
    why: str


class Obeyed(Struct, frozen=True):
    """What was done, and what was left out because it was elsewhere by then. `unconfirmed`: cancelled, but their
    workers have not said yet that the processes are gone."""

    done: list[Done]
    left_out: list[LeftOut]
    unconfirmed: list[str]


def known(house: House) -> dict[str, tuple[Home, Queue]]:
    """By name; the second of a name has a number before it: that of its home, or the next one that is free."""
    found: dict[str, tuple[Home, Queue]] = {}
    seen: set[str] = set()
    for number, home in enumerate(house.homes):
        for queue in known_queues(home):
            if queue.address not in seen:
                seen.add(queue.address)
                found[_free_name(queue.name, number, found)] = (home, queue)
    return found


def _free_name(name: str, number: int, taken: Container[str]) -> str:
    if name not in taken:
        return name
    return next(text for count in itertools.count(number) if (text := f"{count}~{name}") not in taken)


def _queue(call: Call, name: str) -> tuple[Home, Queue]:
    there = known(call.house)
    if name not in there:
        raise NotFound(f"There is no queue {name!r}.", hint=f"There is: {', '.join(there) or 'none'}.")
    return there[name]


def _task(entry: Entry, queue: str) -> Task:
    return Task(entry.id, entry.name, queue, entry.state, entry.title, entry.place.priority)


def all_queues(call: Call) -> Queues:
    found, there = [], known(call.house)
    for home, queue in there.values():
        if not isinstance(queue, DirectoryQueue):
            call.house.distant(queue).ask(home)
    for name, (home, queue) in there.items():
        one = look(call.house, home, queue)
        found.append(Counted(name, str(home.path), queue.address, one.counts, len(one.crew.alive), one.away))
    return Queues(found)


def look(house: House, home: Home, queue: Queue) -> Status:
    """Without a wait for a server that does not answer."""
    return status(queue, 0) if isinstance(queue, DirectoryQueue) else house.distant(queue).look(home)


def queue_status(call: Call) -> QueueStatus:
    name = call.path["queue"]
    home, queue = _queue(call, name)
    one = status(queue, call.params.limit, home)
    return QueueStatus(
        name,
        queue.address,
        one.counts,
        [_running(one, entry, name, home) for entry in one.running],
        [Waiting(_task(entry, name), why) for entry, why in one.waiting],
        one.more,
        one.strangers,
        one.sure,
    )


def _running(one: Status, entry: Entry, name: str, home: Home) -> Running:
    fate, seen = one.crew.fate(entry.worker), one.crew.seen.get(entry.worker)
    ranks = one.gangs[entry.id].ranks if entry.id in one.gangs else {}
    return Running(
        _task(entry, name),
        entry.worker,
        seen.identity.host if seen else "",
        fate,
        entry.attempt,
        started(entry, home),
        {str(rank): seat.worker for seat, rank in ranks.items()},
        owned(entry, one.crew) if fate != ALIVE else "",
    )


def tasks(call: Call) -> Tasks:
    params, name = call.params, call.path["queue"]
    _, queue = _queue(call, name)
    entries = sorted(snapshot(queue).entries, key=lambda entry: entry.id)
    if params.state:
        entries = [entry for entry in entries if entry.state in params.state]
    page = entries[params.offset : params.offset + params.limit]
    return Tasks(len(entries), [_task(entry, name) for entry in page])


def task(call: Call) -> Detail:
    name = call.path["queue"]
    _, queue = _queue(call, name)
    place = find(queue, call.path["task"])
    if place is None:
        raise NotFound(f"There is no task {call.path['task']!r} in {name}.")
    entry = Entry(queue, place)
    file = entry.file
    if file is None:
        return Detail(_task(entry, name), "", {}, [], entry.trouble)
    facts = {field: getattr(file.task, field) for field in file.task.__struct_fields__}
    attempts = [{field: getattr(one, field) for field in one.__struct_fields__} for one in file.attempts]
    return Detail(_task(entry, name), file.task.command, facts, attempts, "")


def order(call: Call) -> Obeyed:
    """Nothing is done unless each task is there and the order makes sense for it."""
    body: Order = call.body
    home, queue = _queue(call, call.path["queue"])
    queue.prepare()
    there = snapshot(queue).by_id()
    missing = [word for word in body.tasks if word not in there]
    if missing:
        raise NotFound(f"There is no task {missing[0]!r} in {call.path['queue']}.")
    entries = [there[word] for word in dict.fromkeys(body.tasks)]
    if body.order == "move":
        done, left = _moved(call, home, queue, entries, body.to)
    else:
        done, left = _ordered(queue, body, entries)
    unconfirmed: list[str] = []
    if body.order == orders.CANCEL:
        places = [step.after for step in done if step.after is not None]
        rest = cancelling.wait_until_over(queue, places, body.wait, functools.partial(bury, home, queue))
        unconfirmed = [place.id for place in rest]
    call.house.fresh(at_once=True)
    told = [Done(s.id, s.before.state, s.after.state if s.after else None, s.remark) for s in done]
    return Obeyed(told, left, unconfirmed)


def _ordered(queue: Queue, body: Order, entries: list[Entry]) -> tuple[list[Step], list[LeftOut]]:
    if (body.priority is None) == (body.order == orders.PRIORITY):
        raise UsageError("The order `priority` needs a priority, and no other takes one.")
    for entry in entries:
        orders.destination(body.order, entry.place)
    done: list[Step] = []
    left: list[LeftOut] = []
    for entry in entries:
        try:
            done.append(carry_out(queue, body.order, entry.place, body.priority))
        except (NotFound, Refused) as error:
            left.append(LeftOut(entry.id, error.message))
    make_durable(queue, done)
    return done, left


def _moved(
    call: Call, home: Home, queue: Queue, entries: list[Entry], to: str | None
) -> tuple[list[Step], list[LeftOut]]:
    if not to:
        raise UsageError("The order `move` needs `to`, the name of a queue.")
    _, target = _queue(call, to)
    if target.address == queue.address or os.path.realpath(target.address) == os.path.realpath(queue.address):
        raise UsageError("They are in this queue already.")
    inhabited = {place.id: place.state for place in target.list().places}
    settled = check(entries, snapshot(queue).by_id(), inhabited)
    refuse_unfit(entries, target)
    target.prepare()
    steps, left = transfer(queue, target, entries, settled)
    remember(target, home)
    return steps, [LeftOut("", sentence) for sentence in left]


ROUTES = [
    Route("GET", "/api/v1/queues", all_queues, "The queues of the homes, and how many tasks are where.", answer=Queues),
    Route(
        "GET",
        "/api/v1/queues/{queue}",
        queue_status,
        "What runs in a queue, what waits and why.",
        StatusParams,
        answer=QueueStatus,
    ),
    Route("GET", "/api/v1/queues/{queue}/tasks", tasks, "The tasks of a queue, by id.", TasksParams, answer=Tasks),
    Route("GET", "/api/v1/queues/{queue}/tasks/{task}", task, "One task: its file and its history.", answer=Detail),
    Route(
        "POST",
        "/api/v1/queues/{queue}/orders",
        order,
        "Cancel, pause, resume, retry, rerun or move tasks, or set their priority.",
        body=Order,
        answer=Obeyed,
    ),
]

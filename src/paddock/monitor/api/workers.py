"""Who works on the queues, and on which machines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from paddock.monitor.api.tasks import known
from paddock.monitor.house import House
from paddock.monitor.http.route import Call, Route
from paddock.queue.directory import DirectoryQueue
from paddock.queue.ensemble.gang import Gang
from paddock.queue.protocol import Queue
from paddock.queue.show.occupied import gangs, occupied
from paddock.queue.show.roster import Seen
from paddock.queue.show.roster import workers as look
from paddock.queue.show.view import Entry, snapshot
from paddock.record.layout import Home


class Slot(Struct, frozen=True):
    """What a worker has taken, or keeps a place for."""

    task: str
    title: str
    state: str
    attempt: int
    rank: int | None
    kept: bool


class Worker(Struct, frozen=True):
    """`silence` is how many seconds ago it was last heard of."""

    worker: str
    queue: str
    host: str
    pid: int
    state: str
    silence: float
    slots: int
    gpus: list[str]
    tasks: list[Slot]


class Workers(Struct, frozen=True):
    workers: list[Worker]


def all_workers(house: House) -> list[Worker]:
    return [worker for name, (home, queue) in known(house).items() for worker in _of(house, home, name, queue)]


def _of(house: House, home: Home, name: str, queue: Queue) -> list[Worker]:
    if not isinstance(queue, DirectoryQueue):
        found = house.distant(queue).look(home)
        return _told(name, list(found.crew.seen.values()), {entry.id: entry for entry in found.running}, found.gangs)
    seen = look(queue)
    return _told(name, seen, snapshot(queue).by_id(), gangs(queue)) if seen else []


def _told(name: str, seen: Sequence[Seen], tasks: Mapping[str, Entry], known: Mapping[str, Gang]) -> list[Worker]:
    slots = occupied(tasks.values(), known)
    return [
        Worker(
            one.name,
            name,
            one.identity.host,
            one.identity.pid,
            one.state,
            one.silence,
            one.identity.slots,
            list(one.gpus),
            [
                Slot(
                    slot.task,
                    tasks[slot.task].title if slot.task in tasks else "",
                    tasks[slot.task].state if slot.task in tasks else "",
                    tasks[slot.task].attempt if slot.task in tasks else 0,
                    slot.rank,
                    slot.kept,
                )
                for slot in slots
                if slot.worker == one.name
            ],
        )
        for one in seen
    ]


def workers(call: Call) -> Workers:
    return Workers(all_workers(call.house))


ROUTES = [
    Route("GET", "/api/v1/workers", workers, "Who works on the queues, and on what.", answer=Workers),
]

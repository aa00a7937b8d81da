"""The queues of this minute. A directory of tasks is listed again only when it has changed."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import NamedTuple

from paddock.evaluate.ledger.account import Tasks
from paddock.monitor.now import picture
from paddock.monitor.now.distant import Distant
from paddock.queue import remembered
from paddock.queue.directory import DirectoryQueue, Listing
from paddock.queue.finding import known_queues
from paddock.queue.lifecycle import ACTIVE, PAUSED, Place
from paddock.queue.protocol import Queue
from paddock.queue.show.occupied import occupied
from paddock.queue.show.status import NEXT, Status, owned, started, status
from paddock.queue.show.view import IN_ORDER, Entry
from paddock.record.layout import Home

WAITING = 50  # tasks that are told of each queue
_CREW_SECONDS = 5.0  # between two looks at who lives, where nothing else has changed
_TRUSTED_AGE = 2_000_000_000  # ns


class Queues(NamedTuple):
    queues: tuple[picture.Queue, ...]
    tasks: tuple[picture.Task, ...]
    workers: tuple[picture.Worker, ...]


class _Watched:
    """One queue, and what is remembered of it."""

    def __init__(self, queue: DirectoryQueue) -> None:
        self.queue = queue
        self._times: dict[str, int] = {}
        self._listings: dict[str, Listing] = {}
        self._looked = -1e9
        self._begun: dict[tuple[str, int], float] = {}
        self.status: Status | None = None
        self.places: dict[str, Place] = {}

    def look(self, home: Home) -> Status:
        changed = self._list()
        clock = time.monotonic()
        if changed or self.status is None or clock - self._looked > _CREW_SECONDS:
            known = [self._listings[state] for state in IN_ORDER]
            listing = Listing(
                [place for one in known for place in one.places],
                [path for one in known for path in one.strangers],
                all(one.sure for one in known),
            )
            self.places = {place.id: place for place in listing.places}
            self.status = status(self.queue, WAITING, home, listing)
            self._looked = clock
        return self.status

    def _list(self) -> bool:
        changed = False
        for state in IN_ORDER:
            try:
                mtime = os.stat(self.queue.directory(state)).st_mtime_ns
            except OSError:
                mtime = -2
            if self._times.get(state) == mtime:
                continue
            young = time.time() * 1e9 - mtime < _TRUSTED_AGE
            before = self._listings.get(state)
            found = self._listings[state] = self.queue.list([state])
            changed = changed or before != found
            self._times[state] = -1 if young else mtime
        return changed

    def began(self, entry: Entry, home: Home) -> float:
        key = (entry.id, entry.attempt)
        if key not in self._begun:
            self._begun[key] = started(entry, home)
        return self._begun[key]

    @property
    def begun(self) -> list[Place]:
        return [*self._listings[ACTIVE].places, *self._listings[PAUSED].places]

    @property
    def sure(self) -> bool:
        return self.status is None or self.status.sure


def _watched(queue: Queue) -> _Watched | Distant:
    return _Watched(queue) if isinstance(queue, DirectoryQueue) else Distant(queue, WAITING)


def _mtime(path: Path) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0


class QueueReader:
    def __init__(self, home: Home) -> None:
        self._home = home
        self._watched: dict[str, _Watched | Distant] = {}
        self._listed: tuple[tuple[int, int], tuple[Queue, ...]] = ((-1, -1), ())  # mtimes, and what was there

    def places(self) -> dict[str, Place]:
        """Where each task of the home was at the last look."""
        return {id_: place for one in self._watched.values() for id_, place in one.places.items()}

    def begun(self) -> dict[str, Place]:
        """Tasks that somebody works on."""
        return {place.id: place for one in self._watched.values() for place in one.begun}

    def evaluations(self) -> Tasks:
        """Where the tasks are that evaluate checkpoints."""
        known = {
            id_: (one.queue, place)
            for one in self._watched.values()
            for id_, place in one.places.items()
            if id_.startswith("eval-")
        }
        return Tasks(known, all(one.sure for one in self._watched.values()), frozenset(self._watched))

    def look(self) -> Queues:
        found = {queue.address: queue for queue in self._queues()}
        self._watched = {path: self._watched.get(path) or _watched(queue) for path, queue in found.items()}
        for one in self._watched.values():
            if isinstance(one, Distant):
                one.ask(self._home)
        looks = [(one, one.look(self._home)) for one in self._watched.values()]
        return Queues(
            tuple(_queue(self._home, one) for _, one in looks),
            tuple(task for watched, one in looks for task in self._tasks(watched, one)),
            tuple(worker for _, one in looks for worker in _workers(self._home, one)),
        )

    def _queues(self) -> tuple[Queue, ...]:
        mtimes = (_mtime(self._home.queues), _mtime(remembered.directory(self._home)))
        if mtimes != self._listed[0]:
            young = time.time() * 1e9 - max(mtimes) < _TRUSTED_AGE
            self._listed = ((-1, -1) if young else mtimes, tuple(known_queues(self._home)))
        return self._listed[1]

    def _tasks(self, watched: _Watched | Distant, one: Status) -> list[picture.Task]:
        now, name = time.time(), _name(self._home, one.queue)
        running = [
            picture.Task(
                id=entry.id,
                title=entry.title or entry.id,
                queue=name,
                state=entry.state,
                why="" if (fate := one.crew.fate(entry.worker)) == "alive" else owned(entry, one.crew),
                worker=entry.worker,
                worker_state=fate,
                attempt=entry.attempt,
                priority=entry.priority,
                seconds=max(0.0, now - watched.began(entry, self._home)),
            )
            for entry in one.running
        ]
        waiting = [
            picture.Task(
                id=entry.id,
                title=entry.title or entry.id,
                queue=name,
                state=entry.state,
                why="its turn is next" if why == NEXT else why,
                worker=entry.worker,
                worker_state=one.crew.fate(entry.worker) if entry.worker else "",
                attempt=entry.attempt,
                priority=entry.priority,
            )
            for entry, why in one.waiting
        ]
        return running + waiting


def _queue(home: Home, one: Status) -> picture.Queue:
    return picture.Queue(
        name=_name(home, one.queue),
        path=one.queue.address,
        counts=one.counts,
        slots=one.crew.slots,
        busy=one.crew.busy,
        more=one.more,
        sure=one.sure,
        away=one.away,
    )


def _workers(home: Home, one: Status) -> list[picture.Worker]:
    titles = {entry.id: entry.title for entry in one.running}
    slots = occupied(one.running, one.gangs)
    found = []
    for seen in one.crew.seen.values():
        mine = [slot for slot in slots if slot.worker == seen.name and not slot.kept]
        found.append(
            picture.Worker(
                name=seen.name,
                queue=_name(home, one.queue),
                host=seen.identity.host,
                pid=seen.identity.pid,
                state=seen.state,
                silence=round(seen.silence, 1),
                slots=seen.identity.slots,
                busy=len(mine),
                gpus=seen.gpus,
                tasks=tuple(titles.get(slot.task) or slot.task for slot in mine),
            )
        )
    return found


def _name(home: Home, queue: Queue) -> str:
    return queue.name if os.path.dirname(queue.address) == str(home.queues) else queue.address

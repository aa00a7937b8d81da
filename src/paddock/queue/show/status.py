"""What happens in a queue: how many tasks are where, what runs, and why what waits is waiting."""

from __future__ import annotations

import heapq
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from paddock.errors import PaddockError
from paddock.queue.directory import Listing
from paddock.queue.ensemble.gang import Gang, capacity
from paddock.queue.lifecycle import ACTIVE, CHECKING, PAUSED, QUEUED, STATES, Place, is_job, order, settle
from paddock.queue.protocol import Queue
from paddock.queue.show.circles import Circles
from paddock.queue.show.occupied import by_worker, gangs, occupied
from paddock.queue.show.roster import ALIVE, DEAD, SILENT, Seen, workers
from paddock.queue.show.view import IN_ORDER, Entry
from paddock.queue.task import Task
from paddock.record.layout import Home
from paddock.record.manifest import manifest_path
from paddock.record.scan import header, journal_files

NEXT = "next"
OTHERS = ""  # no task's id: what an engine says of all tasks that it says nothing else of
NOBODY: Mapping[str, Gang] = {}
_CHECK_WIDTH = 60  # letters of a check that are told


class Crew(NamedTuple):
    """The workers of a queue, and what they have room for."""

    seen: Mapping[str, Seen]
    busy: int  # tasks that live workers run
    gpus_free: int = 0  # the most that one of them has left

    @property
    def alive(self) -> list[Seen]:
        return [worker for worker in self.seen.values() if worker.state == ALIVE]

    @property
    def slots(self) -> int:
        return sum(worker.identity.slots for worker in self.alive)

    @property
    def most_gpus(self) -> int:
        return max((len(worker.gpus) for worker in self.alive), default=0)

    def fate(self, worker: str) -> str:
        """alive, silent, dead; "unknown" of one that has no file."""
        return self.seen[worker].state if worker in self.seen else "unknown"


class Waits(NamedTuple):
    entry: Entry
    why: str


class Status(NamedTuple):
    queue: Queue
    counts: dict[str, int]
    crew: Crew
    running: list[Entry]
    waiting: list[Waits]
    more: int  # tasks that wait beyond those that are told
    strangers: list[str]  # paths of files that are no tasks
    sure: bool
    gangs: Mapping[str, Gang] = {}
    jobs: Mapping[str, str] | None = None  # what an engine says of each task; None when people start the workers
    away: str = ""  # why nothing is known of it now, as a sentence

    def fate(self, entry: Entry) -> str:
        """Of who has it. A task that was handed over to an engine is in its hands, and has no worker of ours."""
        found = self.crew.fate(entry.worker)
        return ALIVE if found == "unknown" and self.jobs is not None and entry.id in self.jobs else found

    def holder(self, entry: Entry) -> str:
        """Who has it, for people."""
        known = self.jobs is None or entry.worker in self.crew.seen
        return entry.worker if known or self.jobs is None else self.jobs.get(entry.id, entry.worker)


def status(
    queue: Queue,
    limit: int | None = None,
    home: Home | None = None,
    listing: Listing | None = None,
    jobs: Mapping[str, str] | None = None,
) -> Status:
    """Of the waiting tasks the first `limit` in the order in which they are taken. The home is where their code is;
    whoever has listed the queue already (IN_ORDER) says what was found; `jobs` is what an engine says of its tasks."""
    listing = listing or queue.list(IN_ORDER)
    places = {place.id: place for place in listing.places}  # of a hundred thousand only a few are looked at closely
    by_state: dict[str, list[Place]] = {state: [] for state in STATES}
    for place in places.values():
        by_state[place.state].append(place)
    seen = {worker.name: worker for worker in workers(queue)}
    begun = [Entry(queue, place) for state in (ACTIVE, PAUSED) for place in by_state[state] if place.token]
    known = gangs(queue)
    slots = by_worker(occupied(begun, known))
    busy = sum(count for worker, count in slots.items() if worker in seen and seen[worker].state == ALIVE)
    crew = Crew(seen, busy, _most_free_gpus(seen.values(), begun))
    line = first([*by_state[QUEUED], *by_state[CHECKING]], limit)
    line += sorted(by_state[PAUSED], key=lambda place: place.id)[: None if limit is None else limit - len(line)]
    return Status(
        queue,
        {state: len(by_state[state]) for state in STATES},
        crew,
        [Entry(queue, place) for place in sorted(by_state[ACTIVE], key=lambda place: place.id)],
        _told(explain([Entry(queue, place) for place in line], places, crew, home, known, jobs), queue.reasons()),
        sum(len(by_state[state]) for state in (QUEUED, CHECKING, PAUSED)) - len(line),
        listing.strangers,
        listing.sure,
        known,
        jobs,
    )


def away(queue: Queue, why: str) -> Status:
    """Of a queue that cannot be asked: a Redis that is not there."""
    return Status(queue, dict.fromkeys(STATES, 0), Crew({}, 0), [], [], 0, [], False, away=why)


def _told(found: list[Waits], reasons: Mapping[str, str]) -> list[Waits]:
    """With what workers said that gave a task back."""
    return [Waits(entry, reasons.get(entry.id, why) if entry.state == QUEUED else why) for entry, why in found]


def _most_free_gpus(seen: Iterable[Seen], begun: Sequence[Entry]) -> int:
    most = 0
    for worker in seen:
        if worker.state == ALIVE and worker.gpus:
            share = len(worker.gpus) // max(worker.identity.slots, 1)  # of who asked for none
            mine = [e.file.task for e in begun if e.worker == worker.name and e.file is not None]
            taken = sum(task.gpus or share for task in mine)
            most = max(most, len(worker.gpus) - taken)
    return most


def first(places: Sequence[Place], limit: int | None) -> list[Place]:
    """Those that are taken first."""
    if limit is None or len(places) <= limit:
        return order(places)
    return heapq.nsmallest(limit, places, key=lambda place: (-place.priority, place.id))


def explain(
    entries: Sequence[Entry],
    known: Mapping[str, Place],
    crew: Crew,
    home: Home | None = None,
    gathering: Mapping[str, Gang] = NOBODY,
    jobs: Mapping[str, str] | None = None,
) -> list[Waits]:
    """Why each of these waits, given in the order in which they are taken."""
    found = []
    circles = Circles(entries, known)
    if jobs is not None:
        return [Waits(entry, circles.why(entry) or _on_engine(entry, known, crew, jobs)) for entry in entries]
    free = crew.slots - crew.busy
    for entry in entries:
        why = (
            circles.why(entry) or _obstacle(entry, known, crew) or _lost_code(entry, home) or _gathers(entry, gathering)
        )
        if not why and entry.file is not None and entry.file.task.gpus > crew.gpus_free:
            why = f"needs {entry.file.task.gpus} GPUs at once; {crew.gpus_free} are free"
        elif not why:
            why = NEXT if free > 0 else f"all {crew.slots} slots are busy" if crew.slots != 1 else "the slot is busy"
            free -= 1
        found.append(Waits(entry, why))
    return found


def _on_engine(entry: Entry, known: Mapping[str, Place], crew: Crew, jobs: Mapping[str, str]) -> str:
    """The engine starts a worker for each: what it says of that is the reason."""
    if entry.state == QUEUED and (entry.id in jobs or is_job(entry.worker)) and entry.worker:  # it was handed over
        return jobs.get(entry.id) or ": ".join(filter(None, (owned(entry, crew), jobs.get(OTHERS))))
    if entry.state == PAUSED or entry.worker:
        return _obstacle(entry, known, crew)
    if entry.file is None:
        return entry.trouble or "just taken"
    waits = _dependencies(entry.queue, entry.file.task, known)
    return ": ".join(filter(None, (waits, jobs.get(entry.id, "" if waits else jobs.get(OTHERS, "no job yet")))))


def _obstacle(entry: Entry, known: Mapping[str, Place], crew: Crew) -> str:
    if entry.state == PAUSED:
        return _paused(entry, crew)
    if entry.state == CHECKING and entry.file is not None and crew.fate(entry.worker) == ALIVE:
        return f"its check runs: {_short(entry.file.task.check)}"
    if entry.worker:
        return owned(entry, crew)
    if entry.file is None:
        return entry.trouble or "just taken"
    return _dependencies(entry.queue, entry.file.task, known) or _room(entry.file.task, crew) or _check(entry.file.task)


def _paused(entry: Entry, crew: Crew) -> str:
    if not entry.worker:
        return "paused"
    fate = crew.fate(entry.worker)
    if fate == ALIVE:
        return f"paused in attempt {entry.attempt}, stopped on {entry.worker}"
    return f"paused in attempt {entry.attempt}; its worker {entry.worker} {_said(fate, crew, entry.worker)}"


def owned(entry: Entry, crew: Crew) -> str:
    """What is to be said of a file whose worker should have let go of it, or is dead."""
    if is_job(entry.worker):
        return "handed over to its engine, which says nothing of it now"
    fate = crew.fate(entry.worker)
    if fate == ALIVE:
        return f"{entry.worker} is letting go of it"
    return f"held by {entry.worker}, which {_said(fate, crew, entry.worker)}; a live worker takes it over"


def _said(fate: str, crew: Crew, worker: str) -> str:
    if fate == DEAD:
        return "is dead"
    if fate == SILENT:
        return f"has been silent for {crew.seen[worker].silence:.0f} s"
    return "has no file any more"


def _dependencies(queue: Queue, task: Task, known: Mapping[str, Place]) -> str:
    if not task.after:
        return ""
    states = {d.task: known[d.task].state for d in task.after if d.task in known}
    verdict = settle(task.after, states)
    if verdict.doomed:
        return f"will fail: {verdict.doomed}"
    if verdict.ready:
        return ""
    open_ = [d.task for d in task.after if states[d.task] not in ("done", "failed")]
    parent, state = Entry(queue, known[open_[0]]), states[open_[0]]
    more = f", and {len(open_) - 1} more" if len(open_) > 1 else ""
    return f"after {parent.name or parent.id}, which is {state}{more}"


def _room(task: Task, crew: Crew) -> str:
    if not crew.alive:
        silent = [worker for worker in crew.seen.values() if worker.state == SILENT]
        return "no worker" if not silent else f"no live worker ({len(silent)} silent)"
    if task.gpus > crew.most_gpus:
        most = f"the most that a worker has is {crew.most_gpus}" if crew.most_gpus else "no worker has any"
        return f"needs {task.gpus} GPU{'s' if task.gpus > 1 else ''}; {most}"
    for amount, name, unit in ((task.cpus, "cpus", 1), (task.mem, "mem", 1 << 30)):
        most_there = max(getattr(worker.identity, name) for worker in crew.alive)
        if 0 < most_there < amount:
            what = "cores" if name == "cpus" else "GB of memory"
            return f"needs {amount / unit:.3g} {what}; the most that a worker has is {most_there / unit:.3g}"
    if task.workers > 1:
        room = capacity(task, [worker.identity for worker in crew.alive])
        if task.workers > room:
            return f"needs {task.workers} slots at once for its ranks; there are {room}"
    return ""


def _gathers(entry: Entry, known: Mapping[str, Gang]) -> str:
    if entry.file is None or entry.id not in known or not known[entry.id].offers:
        return ""
    return f"gathers its ranks: {len(known[entry.id].offers)} of {entry.file.task.workers} slots are kept for it"


def _lost_code(entry: Entry, home: Home | None) -> str:
    code = entry.file.task.code if entry.file is not None else ""
    if not code or home is None:
        return ""
    try:
        here = os.path.exists(manifest_path(home, code))
    except PaddockError as error:  # somebody has edited it
        return error.message
    return "" if here else f"its code ({code[:12]}) is not in {home.path}"


def _check(task: Task) -> str:
    return f"its check has not succeeded yet: {_short(task.check)}" if task.check else ""


def _short(check: str) -> str:
    text = " ".join(check.split())
    return text if len(text) <= _CHECK_WIDTH else text[: _CHECK_WIDTH - 3] + "..."


def started(entry: Entry, home: Home) -> float:
    """When the attempt that runs began: its journal says it; else the file was last moved then."""
    try:
        for journal in journal_files(home.run(entry.id).journals):
            first = header(journal.path, journal.packed)
            t = first.get("t")
            if first.get("role") == "supervisor" and first.get("attempt") == entry.attempt and isinstance(t, float):
                return t
    except OSError:
        pass
    return entry.queue.since(entry.place) or time.time()

"""What happens in a queue: how many tasks are where, what runs, and why what waits is waiting."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from paddock.queue.directory import DirectoryQueue
from paddock.queue.lifecycle import ACTIVE, CHECKING, PAUSED, QUEUED, STATES, order, settle
from paddock.queue.roster import ALIVE, DEAD, SILENT, Seen, workers
from paddock.queue.task import Task
from paddock.queue.view import Entry, snapshot
from paddock.record.layout import Home
from paddock.record.scan import header, journal_files

NEXT = "next"
_CHECK_WIDTH = 60  # letters of a check that are told


class Crew(NamedTuple):
    """The workers of a queue, and what they have room for."""

    seen: Mapping[str, Seen]
    busy: int  # tasks that live workers run

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
    queue: DirectoryQueue
    counts: dict[str, int]
    crew: Crew
    running: list[Entry]
    waiting: list[Waits]
    more: int  # tasks that wait beyond those that are told
    strangers: list[str]  # paths of files that are no tasks
    sure: bool


def status(queue: DirectoryQueue, limit: int | None = None) -> Status:
    """Of the waiting tasks the first `limit` in the order in which they are taken."""
    found = snapshot(queue)
    counts = Counter(entry.state for entry in found.entries)
    running = sorted((e for e in found.entries if e.state == ACTIVE), key=lambda e: e.id)
    seen = {worker.name: worker for worker in workers(queue)}
    # A stopped task keeps its slot; a check takes none.
    slots = (ACTIVE, PAUSED)
    busy = sum(e.state in slots and e.worker in seen and seen[e.worker].state == ALIVE for e in found.entries)
    crew = Crew(seen, busy)
    known = found.by_id()
    line = [known[place.id] for place in order(e.place for e in found.entries if e.state in (QUEUED, CHECKING))]
    held = sorted((e for e in found.entries if e.state == PAUSED), key=lambda e: e.id)
    waiting = explain(list(islice([*line, *held], limit)), known, crew)
    return Status(
        queue,
        {state: counts[state] for state in STATES},
        crew,
        running,
        waiting,
        len(line) + len(held) - len(waiting),
        found.strangers,
        found.sure,
    )


def explain(entries: Sequence[Entry], known: Mapping[str, Entry], crew: Crew) -> list[Waits]:
    """Why each of these waits, given in the order in which they are taken."""
    found = []
    free = crew.slots - crew.busy
    for entry in entries:
        why = _obstacle(entry, known, crew)
        if not why:
            why = NEXT if free > 0 else f"all {crew.slots} slots are busy" if crew.slots != 1 else "the slot is busy"
            free -= 1
        found.append(Waits(entry, why))
    return found


def _obstacle(entry: Entry, known: Mapping[str, Entry], crew: Crew) -> str:
    if entry.state == PAUSED:
        return _paused(entry, crew)
    if entry.state == CHECKING and entry.file is not None and crew.fate(entry.worker) == ALIVE:
        return f"its check runs: {_short(entry.file.task.check)}"
    if entry.worker:
        return owned(entry, crew)
    if entry.file is None:
        return entry.trouble or "just taken"
    return _dependencies(entry.file.task, known) or _room(entry.file.task, crew) or _check(entry.file.task)


def _paused(entry: Entry, crew: Crew) -> str:
    if not entry.worker:
        return "paused"
    fate = crew.fate(entry.worker)
    if fate == ALIVE:
        return f"paused in attempt {entry.attempt}, stopped on {entry.worker}"
    return f"paused in attempt {entry.attempt}; its worker {entry.worker} {_said(fate, crew, entry.worker)}"


def owned(entry: Entry, crew: Crew) -> str:
    """What is to be said of a file whose worker should have let go of it, or is dead."""
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


def _dependencies(task: Task, known: Mapping[str, Entry]) -> str:
    if not task.after:
        return ""
    states = {d.task: known[d.task].state for d in task.after if d.task in known}
    verdict = settle(task.after, states)
    if verdict.doomed:
        return f"will fail: {verdict.doomed}"
    if verdict.ready:
        return ""
    open_ = [d.task for d in task.after if states[d.task] not in ("done", "failed")]
    first, state = known[open_[0]], states[open_[0]]
    more = f", and {len(open_) - 1} more" if len(open_) > 1 else ""
    return f"after {first.name or first.id}, which is {state}{more}"


def _room(task: Task, crew: Crew) -> str:
    if not crew.alive:
        silent = [worker for worker in crew.seen.values() if worker.state == SILENT]
        return "no worker" if not silent else f"no live worker ({len(silent)} silent)"
    if task.gpus > crew.most_gpus:
        most = f"the most that a worker has is {crew.most_gpus}" if crew.most_gpus else "no worker has any"
        return f"needs {task.gpus} GPU{'s' if task.gpus > 1 else ''}; {most}"
    if task.workers > crew.slots:
        return f"needs {task.workers} workers at once; there is room for {crew.slots}"
    return ""


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
    try:
        return os.stat(entry.queue.file(entry.place)).st_ctime
    except OSError:
        return time.time()

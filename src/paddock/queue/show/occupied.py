"""Which slots of which workers are taken: by a task, by a rank of one, or kept free for one that gathers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from paddock.queue.directory import DirectoryQueue
from paddock.queue.ensemble.gang import Gang
from paddock.queue.ensemble.gathering import gatherings
from paddock.queue.lifecycle import ACTIVE, PAUSED
from paddock.queue.protocol import Queue
from paddock.queue.show.view import Entry


class Slot(NamedTuple):
    worker: str
    task: str
    rank: int | None = None  # None for a task that is all by itself
    kept: bool = False  # empty, for a task that gathers


def gangs(queue: Queue) -> dict[str, Gang]:
    """What is known of tasks with several ranks, by id."""
    known = (gatherings(queue) if isinstance(queue, DirectoryQueue) else None) or {}  # nowhere else do ranks meet
    return {task: found for task, gathering in known.items() if (found := gathering.list()) is not None}


def occupied(entries: Iterable[Entry], known: Mapping[str, Gang]) -> list[Slot]:
    """A stopped task keeps its slots; a check takes none."""
    slots = [
        Slot(entry.worker, entry.id)
        for entry in entries
        if entry.worker and entry.state in (ACTIVE, PAUSED) and not (entry.id in known and known[entry.id].ranks)
    ]
    for task, gang in known.items():
        slots += [Slot(seat.worker, task, gang.ranks[seat]) for seat in gang.unsettled]
        slots += [Slot(seat.worker, task, kept=True) for seat in gang.offers]
    return slots


def by_worker(slots: Iterable[Slot]) -> Counter[str]:
    return Counter(slot.worker for slot in slots)

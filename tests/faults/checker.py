"""Reads a farm's histories and says what went wrong: how many tasks were lost, ran twice at once, or are stuck."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from paddock.queue.lifecycle import DONE, FAILED, PAUSED, POISON, QUEUED
from tests.faults.farm import Farm


class Count(NamedTuple):
    tasks: int
    done: int = 0
    failed: int = 0
    lost: int = 0  # acknowledged, and its file is gone or says done although nothing was ever run to its end
    double: int = 0  # two copies lived at once, or two files bear its name
    stuck: int = 0  # neither waiting for a worker nor over
    begun: int = 0  # attempts that began
    repeated: int = 0  # run to the end more than once: not a fault, a worker died between that and its note
    given_up: int = 0  # failed because it was lost with its worker so often in a row: no fault where workers are killed

    @property
    def faults(self) -> tuple[int, int, int]:
        return self.lost, self.double, self.stuck


def check(farm: Farm, tasks: Iterable[str], removed: Iterable[str] = (), final: bool = True) -> Count:
    """`final`: all work is over, so what is not done or failed is stuck. Without, what waits is in order too."""
    tasks, removed = set(tasks), set(removed)
    listing = farm.queue.list()
    assert listing.sure
    states = {place.id: place for place in listing.places}
    files = Counter(place.id for place in listing.places)
    resting = {DONE, FAILED} if final else {DONE, FAILED, QUEUED, PAUSED}
    found = Counter[str]()
    for task in tasks:
        lines = farm.lines(task)
        found["double"] += any(line.startswith("double") for line in lines) or files[task] > 1
        found["begun"] += sum(line.startswith("begin") for line in lines)
        ends = sum(line.startswith("end") for line in lines)
        found["repeated"] += ends > 1
        place = states.get(task)
        if place is None:
            found["lost"] += task not in removed
            continue
        found["done"] += place.state == DONE
        if place.state == FAILED:
            found["given_up" if farm.queue.read(place).losses >= POISON else "failed"] += 1
        found["lost"] += place.state == DONE and not ends and task not in removed
        found["stuck"] += place.state not in resting or place.token is not None
    return Count(len(tasks), **found)

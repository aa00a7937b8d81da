"""As many workers on an engine as a queue needs: pilots. What is to be done is decided purely; an engine is a Fleet."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from paddock.errors import Damaged
from paddock.queue.lifecycle import ACTIVE, CHECKING, PAUSED, QUEUED, Place, order
from paddock.queue.protocol import Queue
from paddock.queue.task import Task
from paddock.work.launcher import Fleet, JobState, Pilot
from paddock.work.slots import Slots

MOST_READ = 1000  # tasks in one look; the others are taken for such as any pilot could run
UNTOLD = frozenset(("env", "gres", "options", "secrets", "setup"))  # words of an engine's that may give GPUs
MANY = 1024
MOST_SECONDS = 600.0  # between two looks while workers fail


class Decision(NamedTuple):
    start: int = 0  # pilots that leave when nothing is left to do
    start_lasting: int = 0  # and those that stay
    end: tuple[Pilot, ...] = ()


class Need(NamedTuple):
    """What a queue's tasks could use now."""

    slots: int = 0
    misfits: int = 0  # tasks that want more than the pilots will ever have


def need(queue: Queue, places: Iterable[Place], each: Slots, most: int) -> Need:
    """`places` also of what is paused; `each` is what a pilot has, of which there are `most`. A task that waits for
    another needs no room yet. Tasks are read until it is known that all pilots are needed."""
    here = {place.id: place for place in places}
    slots = misfits = read = 0
    for place in order(here.values()):  # as they will be taken, not as the disk lists them
        if slots >= most * each.tasks:
            break
        if place.state == PAUSED:
            continue
        read += 1
        task = _read(queue, place) if read <= MOST_READ else Task(id=place.id, command="")
        if task is None:
            continue
        fits = each.fits(task) and task.workers <= most * each.tasks
        waits = any(parent.task in here for parent in task.after)
        if place.state == ACTIVE or not waits:
            slots += task.workers if fits else 0
        misfits += not fits and place.state != ACTIVE
    return Need(slots, misfits)


def _read(queue: Queue, place: Place) -> Task | None:
    """None when it is over. Of what cannot be read now, whoever takes it says more."""
    try:
        return queue.read(place).task
    except FileNotFoundError:
        return None
    except (Damaged, OSError):
        return Task(id=place.id, command="")


def decide(tasks: int, pilots: Sequence[Pilot], *, least: int, most: int, slots: int = 1) -> Decision:
    """`tasks` are all that could run now, or do; a pilot has so many `slots`. A pilot that runs is never ended: it
    leaves by itself. One of which the engine says nothing may be running."""
    there = [pilot for pilot in pilots if pilot.state.may_run]
    wanted = max(least, min(most, math.ceil(tasks / slots)))
    if len(there) < wanted:
        lasting = max(0, least - len(there))
        return Decision(wanted - len(there) - lasting, lasting)
    waiting = [pilot for pilot in there if pilot.state is JobState.PENDING]
    spare = min(len(there) - wanted, len(waiting))
    return Decision(end=tuple(waiting[len(waiting) - spare :]) if spare else ())


class Round(NamedTuple):
    """One look, and what was done about it."""

    tasks: int
    pilots: Sequence[Pilot]
    done: Decision
    misfits: int = 0


def look(queue: Queue, fleet: Fleet, each: Slots, *, least: int, most: int) -> Round:
    """Unreachable and Refused go to the caller: it looks again later."""
    pilots = fleet.look()
    listing = queue.list([QUEUED, CHECKING, ACTIVE, PAUSED])
    if not listing.sure:  # a disk that went away must not look like a queue without tasks
        return Round(0, pilots, Decision())
    tasks = len({place.id for place in listing.places if place.state != PAUSED})
    needed = need(queue, listing.places, each, most)
    wanted = decide(needed.slots, pilots, least=least, most=most, slots=each.tasks)
    if wanted.end:
        fleet.end(wanted.end)
    if wanted.start_lasting:
        fleet.start(wanted.start_lasting, lasting=True)
    if wanted.start:
        fleet.start(wanted.start, lasting=False)
    return Round(tasks, pilots, wanted, needed.misfits)


class Patience:
    """How long until the next look. While one worker after another fails, each look would only start more of them."""

    def __init__(self, every: float) -> None:
        self.seconds = self._every = every
        self._failed: set[str] | None = None  # None before the first look: what failed earlier says nothing

    def see(self, pilots: Sequence[Pilot]) -> None:
        failed = {pilot.id for pilot in pilots if pilot.failed}
        if self._failed is not None and failed - self._failed:
            self.seconds = min(2 * self.seconds, max(MOST_SECONDS, self._every))
        elif any(pilot.state is JobState.RUNNING for pilot in pilots):
            self.seconds = self._every
        self._failed = failed


def room(each: Task, slots: int, told: Iterable[str]) -> Slots:
    """What a pilot of these needs has, for its worker. Where the engine was `told` something that may give it GPUs in
    another way, nobody knows how many."""
    count = MANY if not each.gpus and not UNTOLD.isdisjoint(told) else each.gpus
    return Slots(slots, tuple(map(str, range(count))), each.cpus or None, each.mem or None)

"""Tasks of several ranks, as a worker sees to them: it keeps slots for them, leads some, and runs its share.

Nobody waits for ever. Gangs are gathered in the order of the queue, and whoever is ahead may take a slot that is kept
for one behind: so two half-gathered gangs never block each other. A slot that has been kept for a while may be had by a
smaller task from behind, and then the gang is waited for twice as long.
"""

from __future__ import annotations

import random
import time
from dataclasses import dataclass

from paddock.queue.ensemble import gang
from paddock.queue.ensemble.gang import Gang, Seat, Wait
from paddock.queue.ensemble.gathering import Gathering
from paddock.queue.lifecycle import LOOK, QUEUED, Place, Token
from paddock.queue.task import Task
from paddock.work.attempts.settle import End
from paddock.work.ensemble.crew import LIST_SECONDS, Crew
from paddock.work.ensemble.gangsweep import GangSweep
from paddock.work.ensemble.lead import Led, follow, lead
from paddock.work.ensemble.ranks import Held, Ranks, Workplace
from paddock.work.processes.guard import Exited
from paddock.work.queues.desk import Desk
from paddock.work.queues.mirror import POLL_SECONDS
from paddock.work.queues.waiting import Candidate, Key
from paddock.work.slots import Slots

LOOK_SECONDS, RUN_SECONDS = 0.1, 0.3  # between two looks at a gathering, and at ranks that run
REST_SECONDS = 5.0  # after an attempt that could not be begun


@dataclass
class Hope:
    """A task of several ranks that could run here, if there were enough seats."""

    desk: Desk
    found: Candidate
    rests: float = 0.0  # until then

    @property
    def task(self) -> Task:
        return self.found.file.task


class Gangs:
    def __init__(self, work: Workplace) -> None:
        self._work = work
        self._ranks = Ranks(work)
        self._desks: list[Desk] = []
        self._crews: list[Crew] = []
        self._hopes: dict[tuple[int, str], Hope] = {}
        self._waits: dict[str, Wait] = {}
        self._told: set[str] = set()
        self._due = self._gathered = 0.0  # when to look again at seats, and at what gathers
        self.led: dict[str, tuple[Desk, Led]] = {}

    def serve(self, desk: Desk) -> None:
        """See to the gangs of this queue too."""
        self._desks.append(desk)
        self._crews.append(Crew(desk.queue, desk.reclaim.watch))
        desk.reclaim.sweep = GangSweep(desk.queue, desk.reclaim.watch, self._work.worker, self.seats).look

    @property
    def seats(self) -> dict[Seat, Held]:
        return self._ranks.held

    @property
    def offers(self) -> list[Held]:
        return self._ranks.offers

    @property
    def pause(self) -> float:
        """Seconds until something is to be looked at although nothing happens here."""
        if not (self.seats or self.led):
            return LIST_SECONDS if self._hopes else 3600.0
        if any(desk.mirror.fd < 0 for desk in self._desks):
            return POLL_SECONDS
        return RUN_SECONDS if self.seats and all(held.key for held in self.seats.values()) else LOOK_SECONDS

    # Gathering

    def add(self, desk: Desk, found: Candidate) -> None:
        """It waits for nothing but seats. Its file is watched; when it is edited it comes again."""
        self._hopes[self._desks.index(desk), found.place.id] = Hope(desk, found)
        self._gathered = 0.0
        for held in self.offers:
            if held.desk is desk and held.place.id == found.place.id:
                held.place, held.file = found.place, found.file

    def gather(self, now: float) -> list[tuple[Desk, Led]]:
        """Keep free slots for what lacks some; the attempts that could be begun because nothing lacks any more."""
        for key, hope in list(self._hopes.items()):
            if hope.found.place.name not in hope.desk.mirror.names(QUEUED):
                del self._hopes[key]
        if not self._hopes:
            return []
        room = any(self._work.free.fits(hope.task) for hope in self._hopes.values())
        begun = []
        if room or now >= self._gathered:
            self._gathered = now + self.pause
            for hope in sorted(self._hopes.values(), key=self._order):
                # A second file of a task must not run while the first one does.
                if now >= hope.rests and not hope.desk.mirror.is_owned(hope.task.id) and self._is_possible(hope):
                    led = self._gather(hope, now)
                    if led is not None:
                        begun.append((hope.desk, led))
        return begun

    def _order(self, hope: Hope) -> tuple[int, int, str]:
        return gang.position(*self._position(hope.desk, hope.found.place))

    def _gather(self, hope: Hope, now: float) -> Led | None:
        mine = [held for held in self.offers if held.place.id == hope.task.id and held.desk is hope.desk]
        at = Gathering(hope.desk.queue, hope.task.id)
        if self._work.free.fits(hope.task) or len(self.offers) > len(mine):
            found = at.list()
            for _ in range(gang.lacking(found, hope.task.workers) if found is not None else 0):
                offered = self._ranks.offer(hope.desk, hope.found) if self.make_room(hope.desk, hope.found) else None
                if offered is None:
                    break
                mine.append(offered)
        if not mine:
            return None
        claimed, led = lead(self._work, hope.desk, hope.found)
        if claimed and led is None:
            hope.rests = now + REST_SECONDS  # somebody withdrew, or the disk refused
        if led is not None:
            self.led[led.running.key] = (hope.desk, led)
            self._waits.pop(hope.task.id, None)
            self._due = 0.0  # our own ranks need not wait
        return led

    def _is_possible(self, hope: Hope) -> bool:
        room = gang.capacity(hope.task, self._crews[self._desks.index(hope.desk)].living())
        if room < hope.task.workers and hope.task.id not in self._told:
            self._work.say(f"waits: {hope.task.id}: needs {hope.task.workers} slots; all workers together have {room}")
            self._told.add(hope.task.id)
        return room >= hope.task.workers

    # Slots that are kept, and others that want them

    @property
    def room(self) -> Slots:
        """What would be free if nothing were kept."""
        free = self._work.free
        for held in self.offers:
            free = free.give_back(held.task, held.gpus)
        return free

    def may_overtake(self, desk: Desk, key: Key) -> bool:
        """Whether the task that is next in a queue may have a kept slot, or is one that slots are kept for."""
        here, now = self._position(desk, Place(QUEUED, key[1], -key[0])), time.monotonic()
        return any(held.place.id == key[1] or self._may_have(here, held, now) for held in self.offers)

    def make_room(self, desk: Desk, found: Candidate) -> bool:
        """Whether the task fits, if need be into slots that are kept for a gang behind it, or were kept for long."""
        task, now = found.file.task, time.monotonic()
        if self._work.free.fits(task):
            return True
        here = self._position(desk, found.place)
        kept = [held for held in self.offers if held.place.id != found.place.id and self._may_have(here, held, now)]
        room = self._work.free
        for held in kept:
            room = room.give_back(held.task, held.gpus)
        if not room.fits(task):
            return False
        for held in reversed(kept):
            if self._work.free.fits(task):
                break
            behind = not gang.may_take(here, self._position(held.desk, held.place), False)
            if self._ranks.withdraw(held) and behind:
                self._waits[held.place.id] = self._wait(held.place).overtaken(now)
        return self._work.free.fits(task)

    def _may_have(self, here: tuple[int, Place], held: Held, now: float) -> bool:
        over = self._wait(held.place).is_over(held.since, now)
        return gang.may_take(here, self._position(held.desk, held.place), over)

    def _position(self, desk: Desk, place: Place) -> tuple[int, Place]:
        return self._desks.index(desk), place

    def _wait(self, place: Place) -> Wait:
        # Not all workers lose patience at once: of two queues' gangs that wait for each other one goes first.
        return self._waits.setdefault(place.id, Wait(self._work.options.patience * random.uniform(1.0, 1.5), -1e9))

    # Every round

    def look(self, now: float, stopping: bool) -> list[tuple[Desk, Led, End]]:
        """See what became of our seats, and which of the attempts that we lead are over."""
        if now < self._due or not (self.seats or self.led):
            return []
        self._due = now + self.pause
        for desk in self._desks:
            mine = [held for held in self.seats.values() if held.desk is desk]
            if mine:
                self._look(desk, mine, stopping)
        ends = []
        for key, (desk, led) in list(self.led.items()):
            end = follow(led, self._work.say)
            if end is not None:
                del self.led[key]
                led.at.clean(led.token, led.go)
                ends.append((desk, led, end))
        return ends

    def _look(self, desk: Desk, mine: list[Held], stopping: bool) -> None:
        found = {task: Gathering(desk.queue, task).list() for task in {held.place.id for held in mine}}
        listing = desk.mirror.claims()
        claims = {(place.id, place.token) for place in listing.places}
        if any(self._is_unclear(held, found[held.place.id], claims, stopping) for held in mine):
            listing = desk.queue.list(LOOK)
        for held in mine:
            seen = found[held.place.id]
            if seen is not None:
                wanted = self._is_wanted(held) and not stopping
                self._ranks.look(held, seen, listing.places, listing.sure, wanted=wanted, stopping=stopping)

    def _is_unclear(
        self, held: Held, found: Gang | None, claims: set[tuple[str, Token | None]], stopping: bool
    ) -> bool:
        """Whether more must be known of the task than that it waits or runs as it should."""
        if held.key:
            return (held.place.id, held.token) not in claims
        waits = found is not None and held.seat in found.offers and not found.go
        return stopping or not waits or not self._is_wanted(held)

    def _is_wanted(self, held: Held) -> bool:
        return (self._desks.index(held.desk), held.place.id) in self._hopes

    def heard(self, event: Exited) -> None:
        if self._ranks.heard(event):
            self._due = 0.0

    def guard_died(self) -> None:
        self._ranks.guard_died()

    def stop(self, *, at_once: bool, drain: bool) -> None:
        self._hopes.clear()
        self._ranks.stop(at_once=at_once, drain=drain)

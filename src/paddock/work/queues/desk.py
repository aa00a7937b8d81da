"""One queue as a worker sees it: its directories in memory, what waits there, whose checks run, who has died."""

from __future__ import annotations

import time
from collections.abc import Callable, Set

from paddock.queue import lifecycle
from paddock.queue.directory import DirectoryQueue
from paddock.queue.lease import Lease, Watch
from paddock.queue.lifecycle import ACTIVE, CHECKING, LOOK, QUEUED, Liveness, Order, Place
from paddock.work.attempts.attempt import Running
from paddock.work.processes.guard import Guard
from paddock.work.queues.checks import Checking, Checks
from paddock.work.queues.mirror import WORKERS, Mirror
from paddock.work.queues.reclaim import Reclaim
from paddock.work.queues.waiting import Waiting
from paddock.work.slots import Slots

MISS_SECONDS = 0.25  # between two listings without a file before it counts as removed: an editor's save takes less
LOOK_SECONDS = 0.01  # a look at the directories is good for so long


class Desk:
    def __init__(
        self,
        queue: DirectoryQueue,
        lease: Lease,
        guard: Guard,
        most: Slots,
        liveness: Liveness,
        say: Callable[[str], None],
        *,
        listen: bool,
        only: str = "",
    ) -> None:
        """`say` gets what a person is to know who looks on."""
        worker = lease.path.name
        self.queue, self.lease, self._only = queue, lease, only
        self.mirror = Mirror(queue, listen=listen)
        self.waiting = Waiting(queue, self.mirror, most, say, only)
        self.checks = Checks(queue, self.waiting, guard, worker)
        self._watch = Watch(queue.workers, liveness.reclaim)
        self.reclaim = Reclaim(queue, self.mirror, self._watch, worker, say, liveness.look)
        self.unwanted = False  # somebody has removed the worker's file
        self._looked = -1e9  # when the directories were last seen

    @property
    def is_empty(self) -> bool:
        """As far as we know nothing waits or runs."""
        return not any(self.mirror.names(state) for state in (QUEUED, CHECKING, ACTIVE))

    def is_stale(self, now: float, ready: Set[int]) -> bool:
        """Whether `refresh` is due. While one short task follows another, the look that follows each claim will do, if
        the kernel tells what happens and `ready` does not say that it has."""
        return self.mirror.fd < 0 or self.mirror.fd in ready or now - self._looked >= LOOK_SECONDS

    def refresh(self, now: float) -> bool:
        """See what has changed in the directories; True when something has."""
        self._looked = now
        changes = self.mirror.refresh(now)
        self.waiting.find_forgotten(now)
        if not changes:
            return False
        self.waiting.note(changes)
        name = self.lease.path.name
        if any(directory == WORKERS and changed == name and not here for directory, changed, here, _ in changes):
            self.unwanted = True
        return True

    def misplaced(self, held: list[Running | Checking]) -> list[tuple[Running | Checking, Order]]:
        """What is to be done about each of these tasks whose file is not where it should be."""
        missing = [one for one in held if one.place.name not in self.mirror.names(one.place.state)]
        if not missing:
            return []
        listing = self.queue.list(LOOK)
        orders = [(one, self._order(one, listing.places, listing.sure)) for one in missing]
        return [(one, order) for one, order in orders if order is not Order.KEEP]

    def _order(self, one: Running | Checking, places: list[Place], sure: bool) -> Order:
        token = one.place.token
        assert token is not None
        found = [place for place in places if place.id == one.place.id]
        stopped = isinstance(one, Running) and one.stopped
        order = lifecycle.judge(token, found, stopped=stopped, sure=sure, misses=one.misses)
        here = next((place for place in found if place.token == token), None)
        now = time.monotonic()
        if here is not None:
            one.misses, one.place = 0, here
            self.mirror.moved(here, here)
            if isinstance(one, Checking) and order is not Order.DROP:
                return Order.KEEP if here.state == CHECKING else Order.KILL
        elif sure and now - one.missed >= MISS_SECONDS:
            one.misses, one.missed = one.misses + 1, now
        return order

    def has_rival(self, mine: Place) -> bool:
        """Whether another file of a task that we have just taken is in a worker's hands. The kernel has told of every
        claim before ours by now; where it does not tell, a listing does."""
        if self.mirror.fd < 0:
            return self.queue.has_rival(mine)
        self.refresh(time.monotonic())
        return self.mirror.has_rival(mine)

    def busy(self, keys: Set[str]) -> set[str]:
        """The tasks of this worker that are in hand."""
        return {*keys, *(f"{held.place.id}~{held.place.token}" for held in self.checks.held.values())}

    def may_come(self) -> bool:
        """Whether there is anything to wait for, by a fresh listing: it decides whether the worker leaves. What others
        run is theirs, unless they may be dead: where workers come and go, nobody else might be there to see it."""
        listing = self.queue.list([QUEUED, CHECKING, ACTIVE])
        if not listing.sure:
            return True
        if self._only:
            return any(self._may_be_ours(place) for place in listing.places if place.id == self._only)
        if self.waiting.may_any(place.name for place in listing.places if place.state != ACTIVE):
            return True
        owners = {place.token.worker for place in listing.places if place.state == ACTIVE and place.token is not None}
        return any(self._watch.may_be_dead(one) for one in owners - {self.lease.path.name} if not lifecycle.is_job(one))

    def _may_be_ours(self, place: Place) -> bool:
        """The one task that we are there for: it waits, or who has it may be dead, which takes a while to be seen."""
        if place.state != ACTIVE or place.token is None:
            return not self.waiting.is_hopeless(place.name)
        return place.token.worker != self.lease.path.name and not self._watch.is_alive(place.token.worker)

    def has_claims(self) -> bool:
        """Whether a file bears this worker's name, or that cannot be told. Then others must see that it is dead."""
        listing = self.queue.list(LOOK)
        return not listing.sure or any(p.token and p.token.worker == self.lease.path.name for p in listing.places)

    def pause(self, now: float) -> float:
        return min(self.waiting.pause(now), self.checks.pause(now))

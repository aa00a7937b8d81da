"""What dead workers left in the directories of gangs, and what attempts that are over left there."""

from __future__ import annotations

import contextlib
from collections.abc import Container

from paddock.queue.directory import DirectoryQueue, Listing
from paddock.queue.ensemble import gang
from paddock.queue.ensemble.gang import Result, Seat
from paddock.queue.ensemble.gathering import Gathering, gatherings
from paddock.queue.lease import Watch
from paddock.work.processes import process


class GangSweep:
    """One queue's, as one worker sees to it."""

    def __init__(self, queue: DirectoryQueue, watch: Watch, worker: str, held: Container[Seat]) -> None:
        self._queue, self._watch, self._worker, self._held = queue, watch, worker, held
        self._over: dict[str, set[str]] = {}  # what was there at the last look, of tasks that nobody had

    def look(self, listing: Listing) -> set[str] | None:
        """The workers that have a seat somewhere: their files must stay until that is settled. None when nobody can
        say. `listing` has all files of the queue with a token."""
        seated: set[str] = set()
        over: dict[str, set[str]] = {}
        owned = {place.id for place in listing.places if place.token is not None}
        known = gatherings(self._queue)
        for task, at in (known or {}).items():
            names = at.names()
            if names is None:
                known = None
                continue
            found = gang.read_names(names)
            for seat in {*found.offers, *found.unsettled}:
                seated.add(seat.worker)
                if self._is_dead(seat):
                    self._bury(task, at, seat, found.ranks.get(seat))
            if task in owned or not listing.sure:
                continue
            at.remove(self._over.get(task, set()) & set(names))
            kept = {gang.offer_name(seat) for seat in found.offers}
            kept |= {gang.rank_name(found.ranks[seat], seat) for seat in found.unsettled}
            over[task] = set(names) - kept
        self._over = over
        return seated if known is not None else None

    def _is_dead(self, seat: Seat) -> bool:
        if seat.worker == self._worker:
            return seat not in self._held  # it slipped out of our hands
        return self._watch.is_dead(seat.worker)

    def _bury(self, task: str, at: Gathering, seat: Seat, rank: int | None) -> None:
        with contextlib.suppress(OSError):  # again at the next look
            if rank is None:
                at.remove([gang.offer_name(seat)])
                return
            process.kill_marked(gang.process_key(task, rank, seat))
            at.say_result(seat, Result(rank, seat.worker, how="lost", exit="its worker died"))

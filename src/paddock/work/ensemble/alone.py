"""A worker that is there for one task of one rank has no gangs: it keeps no slot for any, and gives none a seat.

It stands where Gangs stands, so that such a worker, which an engine starts for each task, need not import all that a
gang takes. Should its task have several ranks after all, `grown` is what it needs.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from paddock.work.ensemble.gangs import Gangs
    from paddock.work.ensemble.ranks import Workplace
    from paddock.work.processes.guard import Exited
    from paddock.work.queues.desk import Desk
    from paddock.work.queues.waiting import Candidate, Key
    from paddock.work.slots import Slots


class Alone:
    pause = math.inf

    def __init__(self, work: Workplace) -> None:
        self._work = work
        self._desks: list[Desk] = []
        self.led: dict[str, Any] = {}
        self.seats: dict[Any, Any] = {}
        self.offers: list[Any] = []

    def grown(self) -> Gangs:
        from paddock.work.ensemble.gangs import Gangs

        made = Gangs(self._work)
        for desk in self._desks:
            made.serve(desk)
        return made

    def serve(self, desk: Desk) -> None:
        self._desks.append(desk)

    def gather(self, now: float) -> list[Any]:
        return []

    def look(self, now: float, stopping: bool) -> list[Any]:
        return []

    @property
    def room(self) -> Slots:
        return self._work.free

    def may_overtake(self, desk: Desk, key: Key) -> bool:
        return False

    def make_room(self, desk: Desk, found: Candidate) -> bool:
        return self._work.free.fits(found.file.task)

    def heard(self, event: Exited) -> None: ...

    def guard_died(self) -> None: ...

    def stop(self, *, at_once: bool, drain: bool) -> None: ...

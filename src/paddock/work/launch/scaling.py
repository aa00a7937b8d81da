"""As many workers on an engine as a queue needs: pilots. What is to be done is decided purely; an engine is a Fleet."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from paddock.queue.lifecycle import ACTIVE, CHECKING, QUEUED
from paddock.queue.protocol import Queue
from paddock.work.launcher import Fleet, JobState, Pilot


class Decision(NamedTuple):
    start: int = 0  # pilots that leave when nothing is left to do
    start_lasting: int = 0  # and those that stay
    end: tuple[Pilot, ...] = ()


def decide(tasks: int, pilots: Sequence[Pilot], *, least: int, most: int, slots: int = 1) -> Decision:
    """`tasks` are all that wait or run; a pilot has so many `slots`. A pilot that runs is never ended: it leaves by
    itself. One of which the engine says nothing may be running."""
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


def look(queue: Queue, fleet: Fleet, *, least: int, most: int, slots: int = 1) -> Round:
    """Unreachable and Refused go to the caller: it looks again later."""
    pilots = fleet.look()
    listing = queue.list([QUEUED, CHECKING, ACTIVE])
    if not listing.sure:  # a disk that went away must not look like a queue without tasks
        return Round(0, pilots, Decision())
    tasks = len({place.id for place in listing.places})
    wanted = decide(tasks, pilots, least=least, most=most, slots=slots)
    if wanted.end:
        fleet.end(wanted.end)
    if wanted.start_lasting:
        fleet.start(wanted.start_lasting, lasting=True)
    if wanted.start:
        fleet.start(wanted.start, lasting=False)
    return Round(tasks, pilots, wanted)

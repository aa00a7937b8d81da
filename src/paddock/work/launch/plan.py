"""Which tasks of an engine's queue need a job, and which jobs nobody needs any more. Pure.

A job that the engine says nothing about may be running, so nothing is done about its task. A second job for a task
would do no harm (its worker finds the task taken, and leaves), but it takes room.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from paddock.queue.lifecycle import ACTIVE, CHECKING, PAUSED, QUEUED, Place
from paddock.work.launcher import Job, JobState

MOST_IN_VAIN = 3  # jobs in a row that ended before their worker had begun an attempt


class Plan(NamedTuple):
    launch: list[str]  # ids of tasks, in the order in which they should start
    end: list[Job]
    stuck: list[str]  # ids of tasks whose jobs end before they have done anything


def plan(
    places: Iterable[Place],
    jobs: Mapping[str, Sequence[Job]],
    alive: AbstractSet[str],
    in_vain: Mapping[str, int],
) -> Plan:
    """`places` of a sure listing; `alive` are the workers that are; `in_vain` says of each task how many jobs it has
    had since its last attempt."""
    here = {place.id: place for place in places}
    launch: list[str] = []
    stuck: list[str] = []
    for place in sorted(here.values(), key=lambda place: (-place.priority, place.id)):
        if not _needs_worker(place, alive) or any(job.state.may_run for job in jobs.get(place.id, ())):
            continue
        (stuck if in_vain.get(place.id, 0) >= MOST_IN_VAIN else launch).append(place.id)
    # A job that runs has a worker that sees by itself what became of its task.
    unwanted = [
        job
        for task, found in jobs.items()
        if task not in here or not (_is_open(here[task]) or _is_held(here[task]))
        for job in found
        if job.state is JobState.PENDING
    ]
    return Plan(launch, unwanted, stuck)


def _is_open(place: Place) -> bool:
    return place.state in (QUEUED, CHECKING, ACTIVE)


def _is_held(place: Place) -> bool:
    """It was paused while it ran, and its worker has it stopped. Its engine may not know yet that the job began."""
    return place.state == PAUSED and place.token is not None


def _needs_worker(place: Place, alive: AbstractSet[str]) -> bool:
    """It waits, or who had it seems to be gone."""
    return _is_open(place) and (place.token is None or place.token.worker not in alive)

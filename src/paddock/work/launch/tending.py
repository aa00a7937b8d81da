"""Seeing to an engine's queue: one question to the engine, then a job for each task that has none, and an end to those
that nobody needs. Whoever looks at the queue does it; nothing has to run for it, and doing it twice does no harm.
Who submits starts what is new, and no more."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from paddock.errors import Damaged, PaddockError
from paddock.queue.directory import DirectoryQueue, Listing
from paddock.queue.lease import server_time
from paddock.queue.lifecycle import CANCELLED, Place, is_free
from paddock.queue.show.roster import ALIVE, workers
from paddock.queue.show.view import IN_ORDER
from paddock.queue.task import Task, TaskFile
from paddock.work.launch import jobs as memory
from paddock.work.launch.plan import Plan, plan
from paddock.work.launch.unrun import fail
from paddock.work.launch.verdicts import Verdicts, judge
from paddock.work.launcher import Job, Launched, Launcher

LOCK = ".tend"
LOCK_SECONDS = 10.0  # who does it before us may have looked before our task was there
OVERDUE_SECONDS = 45.0  # a worker that was told to end its task, and has the time to do so, has done it


class Tended(NamedTuple):
    jobs: Mapping[str, Sequence[Job]]  # what the engine says, by task
    launched: Sequence[Launched] = ()
    stuck: Sequence[str] = ()  # tasks whose jobs end before they have done anything
    trouble: PaddockError | None = None  # the engine is away, or refuses
    failed: Sequence[str] = ()  # tasks that waited for what will never happen


def tend(queue: DirectoryQueue, launcher: Launcher, scheme: str) -> Tended:
    """Whatever is wrong with the engine, the tasks wait on; what that was is in the answer."""
    with _alone(queue) as alone:
        try:
            found = launcher.look(queue)
        except PaddockError as error:
            return Tended({}, trouble=error)
        listing = queue.list(IN_ORDER)
        if not alone or not listing.sure:
            return Tended(found)
        if not launcher.capabilities.shared_disk:
            from paddock.work.launch import remote

            seen = remote.see_to(queue, launcher, scheme, found)
            return Tended(found, seen.launched, trouble=seen.trouble)
        wanted, read = _wanted(queue, listing, found)
        judged = _judged(queue, listing, read, wanted.launch, found, launcher)
        places = {place.id: place for place in listing.places}
        failed = [task for task, why in judged.doomed.items() if fail(queue, places[task], why)]
        launched: Sequence[Launched] = ()
        try:
            unwanted = [*wanted.end, *_hung(queue, found)]
            if unwanted:
                launcher.end(queue, unwanted)
            if judged.start:
                launched = launcher.launch(queue, [read[task].task for task in judged.start])
        except PaddockError as error:
            return Tended(found, (), wanted.stuck, error, failed)
        for one in launched:
            if one.job:
                memory.note(queue, one.task, scheme, one.job, len(read[one.task].attempts))
        return Tended(found, launched, wanted.stuck, None, failed)


def start(queue: DirectoryQueue, launcher: Launcher, scheme: str, tasks: Sequence[Task]) -> Tended:
    """Jobs for tasks that were queued this moment. They can have none yet, unless somebody has looked meanwhile and
    noted it; so the engine is asked nothing, and all else waits for who looks next."""
    if not launcher.capabilities.shared_disk or any(task.after for task in tasks):
        return tend(queue, launcher, scheme)
    with _alone(queue) as alone:
        fresh = [task for task in tasks if not memory.started(queue, task.id)]
        if not alone or not fresh:
            return Tended({})
        try:
            launched = launcher.launch(queue, fresh)
        except PaddockError as error:
            return Tended({}, trouble=error)
        for one in launched:
            if one.job:
                memory.note(queue, one.task, scheme, one.job, 0)
        return Tended({}, launched)


def _wanted(
    queue: DirectoryQueue, listing: Listing, found: Mapping[str, Sequence[Job]]
) -> tuple[Plan, dict[str, TaskFile]]:
    alive = {worker.name for worker in workers(queue) if worker.state == ALIVE}
    wanted = plan(listing.places, found, alive, {})
    places = {place.id: place for place in listing.places}
    read: dict[str, TaskFile] = {}
    for task in wanted.launch:
        with contextlib.suppress(Damaged, OSError):  # the next look sees it again
            read[task] = queue.read(places[task])
    tries = {task: memory.in_vain(queue, task, len(file.attempts)) for task, file in read.items()}
    return plan([places[task] for task in read], found, alive, tries)._replace(end=wanted.end), read


def _judged(
    queue: DirectoryQueue,
    listing: Listing,
    read: Mapping[str, TaskFile],
    tasks: Sequence[str],
    found: Mapping[str, Sequence[Job]],
    launcher: Launcher,
) -> Verdicts:
    free = {place.id for place in listing.places if is_free(place)}
    after = [(task, read[task].task.after if task in free else ()) for task in tasks]
    states = {place.id: place.state for place in listing.places}
    if any(dependencies for _, dependencies in after):
        # A listing may miss a file that is being moved, two in a row do not; and nobody fails for a rumour.
        again = queue.list(IN_ORDER)
        states = {**states, **{place.id: place.state for place in again.places}}
        if not again.sure:
            after = [(task, dependencies) for task, dependencies in after if not dependencies]
    with_job = {task for task, jobs in found.items() if any(job.state.may_run for job in jobs)}
    return judge(after, states, with_job, holds_back=launcher.capabilities.dependencies)


def _hung(queue: DirectoryQueue, found: Mapping[str, Sequence[Job]]) -> list[Job]:
    """Jobs of cancelled tasks whose worker has not ended them in time. When the job is over, so is the cancellation."""
    places = queue.list([CANCELLED]).places
    if not places:
        return []
    now = server_time(queue.path / ".submit")
    hung: list[Job] = []
    for place in places:
        if _age(queue, place, now) < OVERDUE_SECONDS:
            continue
        jobs = [job for job in found.get(place.id, ()) if job.state.may_run]
        hung += jobs
        if not jobs:
            with contextlib.suppress(OSError):
                os.unlink(queue.file(place))
    return hung


def _age(queue: DirectoryQueue, place: Place, now: float) -> float:
    try:
        return now - os.stat(queue.file(place)).st_ctime
    except OSError:
        return 0.0


@contextlib.contextmanager
def _alone(queue: DirectoryQueue) -> Iterator[bool]:
    """False when somebody else does it, and for long. Where locks do not work, both do it: a job too many."""
    descriptor = os.open(queue.path / LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o644)
    try:
        yield _lock(descriptor)
    finally:
        os.close(descriptor)


def _lock(descriptor: int) -> bool:
    end = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            if time.monotonic() >= end:
                return False
            time.sleep(0.05)
        except OSError:
            return True

"""Tasks that are handed over to jobs which see no disk of ours: their files are claimed here, in the job's name, and
put away when the job has said how it ended.

    queued/<id>~k8s-3f2a9c.1     handed over; its job waits for room
    active/<id>~k8s-3f2a9c.1     its job runs

The claim comes first, so that nobody else has the task; the job bears the claim's token, so that it is known again by
whoever looks next. A job that the engine knows no more is lost, and the task waits for another; a job that the engine
says nothing about is left alone.
"""

from __future__ import annotations

import contextlib
import secrets
import subprocess
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from paddock import files, wire
from paddock.errors import Damaged, PaddockError
from paddock.queue.directory import DirectoryQueue
from paddock.queue.lifecycle import (
    ACTIVE,
    CANCELLED,
    CHECKING,
    DONE,
    FAILED,
    QUEUED,
    Place,
    Token,
    after_attempt,
    after_loss,
    ended,
    is_free,
    is_job,
    order,
    settle,
)
from paddock.queue.order import cancelling
from paddock.queue.show.view import IN_ORDER
from paddock.queue.task import Attempt, TaskFile, render, render_attempt
from paddock.work.launch.unrun import fail
from paddock.work.launcher import Carrier, Job, JobState, Launched, Launcher, Parcel

TRIES = ".tries"  # which pod, or the like, was last seen to run each task
CHECK_SECONDS = 20.0
GIVEN_BACK, TASK_FAILED = 75, 10  # exit codes of `paddock task`
_TAIL = 2000  # characters of its output
_OPEN = (QUEUED, CHECKING, ACTIVE)


class Seen(NamedTuple):
    launched: list[Launched]
    trouble: PaddockError | None = None


def see_to(queue: DirectoryQueue, launcher: Launcher, scheme: str, jobs: Mapping[str, Sequence[Job]]) -> Seen:
    """One round: put away what is over, end what nobody wants, hand over what can start. By one process at a time."""
    assert isinstance(launcher, Carrier)
    by_claim = {job.claim: job for found in jobs.values() for job in found if job.claim}
    unwanted = _review(queue, scheme, by_claim)
    try:
        if unwanted:
            launcher.end(queue, unwanted)
            left = {job.claim for found in launcher.look(queue).values() for job in found if job.state.may_run}
            for place in _owned(queue, scheme):
                if str(place.token) in {job.claim for job in unwanted} - left:
                    _let_go(queue, place)
        return Seen(_hand_over(queue, launcher, scheme))
    except PaddockError as error:
        return Seen([], error)


def _owned(queue: DirectoryQueue, scheme: str) -> list[Place]:
    listing = queue.list((*IN_ORDER, CANCELLED))
    claims = [(place, place.token.worker) for place in listing.places if place.token is not None]
    return [place for place, owner in claims if is_job(owner) and owner.startswith(f"{scheme}-")]


def _review(queue: DirectoryQueue, scheme: str, by_claim: Mapping[str, Job]) -> list[Job]:
    """Put files where they belong by now; the jobs that have to be ended come back."""
    unwanted, known = [], set[str]()
    for place in _owned(queue, scheme):
        claim = str(place.token)
        known.add(claim)
        job = by_claim.get(claim)
        with contextlib.suppress(FileNotFoundError):  # a person was faster
            if place.state not in _OPEN:
                if job is None or not job.state.may_run:
                    _let_go(queue, place)
                else:
                    unwanted.append(job)
            elif job is None:
                _put_away(queue, place, None)
            elif job.state is JobState.ENDED:
                _note_anew(queue, place, job)  # it may have begun and ended since the last look
                _put_away(queue, place, job)
            elif job.state is JobState.RUNNING:
                _runs(queue, place, job)
    strays = [job for claim, job in by_claim.items() if claim not in known and job.state.may_run]
    if strays and queue.list().sure:  # somebody removed the file: that is believed at the second look
        again = {str(place.token) for place in _owned(queue, scheme)}
        unwanted += [job for job in strays if job.claim not in again]
    return unwanted


def _runs(queue: DirectoryQueue, place: Place, job: Job) -> None:
    if place.state == QUEUED:
        if not queue.move(place, place._replace(state=ACTIVE)):
            return
        place = place._replace(state=ACTIVE)
    losses = _note_anew(queue, place, job)
    if losses and (state := after_loss(ACTIVE, losses)) != QUEUED:
        queue.move(place, place._replace(state=state))  # the next look ends the job


def _note_anew(queue: DirectoryQueue, place: Place, job: Job) -> int:
    """An engine may begin anew by itself what was lost with a machine: that is an attempt, too. All losses until now,
    if there is a new one."""
    if not job.try_:
        return 0
    path = queue.path / TRIES / place.id
    try:
        claim, _, before = files.read_from(path, 0).decode("utf-8", "replace").strip().partition(" ")
    except OSError:
        claim, before = "", ""
    if (claim, before) == (job.claim, job.try_):
        return 0
    path.parent.mkdir(exist_ok=True)
    files.replace(path, f"{job.claim} {job.try_}\n".encode())
    if claim != job.claim:
        return 0
    try:
        file = queue.read(place)
    except Damaged:
        return 0
    note = Attempt(number=len(file.attempts) + 1, worker=before, outcome="lost", exit="its machine or pod is gone")
    queue.append(place, render_attempt(note, file.fence))
    return file.losses + 1


def _let_go(queue: DirectoryQueue, place: Place) -> None:
    """Its job is no more, and a person has put the file where it is."""
    if place.state == CANCELLED:
        cancelling.confirm(queue, place)
    else:
        queue.move(place, ended(place, place.state))


# What became of it


class Result(NamedTuple):
    notes: list[Attempt]
    state: str  # where the file goes


def _put_away(queue: DirectoryQueue, place: Place, job: Job | None) -> None:
    try:
        file = queue.read(place)
    except Damaged:  # edited beyond recognition: it waits where a person will see it
        queue.move(place, ended(place, QUEUED))
        return
    result = judge(file, place, job)
    for note in result.notes:
        queue.append(place, render_attempt(note, file.fence))
    queue.move(place, ended(place, result.state))


def judge(file: TaskFile, place: Place, job: Job | None) -> Result:
    """How the task stands after its job. Pure. What the job left behind says it all; else its exit code says most."""
    assert place.token is not None
    number = len(file.attempts) + 1
    if job is None:
        note = Attempt(number=number, worker=str(place.token.worker), outcome="lost", exit="its job is gone")
        return _noted(file, note)
    if (found := _said(job, number)) is not None:
        return _overdue(file, found) if found.state == QUEUED and found.notes and _is_overdue(job) else found
    outcome, exit = _outcome(job)
    note = Attempt(
        number=number, worker=job.id, host=job.node, outcome=outcome, exit=exit, tail=job.said[-_TAIL:].rstrip("\n")
    )
    return _noted(file, note)


def _is_overdue(job: Job) -> bool:
    return job.about.startswith("DeadlineExceeded")


def _overdue(file: TaskFile, found: Result) -> Result:
    """It was given back because its time was over, and would be so again."""
    last = msgspec.structs.replace(found.notes[-1], outcome="timed out", exit="it took longer than its time")
    before = msgspec.structs.replace(file, attempts=(*file.attempts, *found.notes[:-1]))
    return Result([*found.notes[:-1], last], _noted(before, last).state)


def _noted(file: TaskFile, note: Attempt) -> Result:
    return Result([note], after_attempt(ACTIVE, msgspec.structs.replace(file, attempts=(*file.attempts, note))))


def _outcome(job: Job) -> tuple[str, str]:
    """By the exit code. One that `paddock task` does not have is that of something which ended it."""
    if job.exit == 0:
        return "done", "exit code 0"
    if _is_overdue(job):
        return "timed out", job.about
    known = {TASK_FAILED: "failed", GIVEN_BACK: "requeued"}
    return known.get(-1 if job.exit is None else job.exit, "lost"), job.about


def _said(job: Job, number: int) -> Result | None:
    """What `paddock task` left behind: the state and the attempts since."""
    try:
        found: Any = wire.loads(job.said)
        notes = [msgspec.convert(one, Attempt) for one in found["attempts"]]
        state = found["state"]
    except (wire.DecodeError, msgspec.ValidationError, KeyError, TypeError):
        return None
    if state not in (DONE, FAILED, QUEUED):
        return None
    numbered = enumerate(notes, number)  # what was lost meanwhile is not known there
    return Result([msgspec.structs.replace(one, number=at, host=one.host or job.node) for at, one in numbered], state)


# What can start


def _hand_over(queue: DirectoryQueue, launcher: Launcher, scheme: str) -> list[Launched]:
    assert isinstance(launcher, Carrier)
    listing = queue.list(IN_ORDER)
    if not listing.sure:
        return []
    states = {place.id: place.state for place in listing.places}
    checked: dict[tuple[str, str], bool] = {}
    claimed: dict[str, Place] = {}
    parcels: list[Parcel] = []
    for place in order(place for place in listing.places if is_free(place)):
        with contextlib.suppress(Damaged, OSError):  # the next look sees it again
            file = queue.read(place)
            verdict = settle(file.task.after, states)
            token = Token(f"{scheme}-{secrets.token_hex(4)}", len(file.attempts) + 1)
            if verdict.doomed:
                fail(queue, place, verdict.doomed)
            elif verdict.ready and _check(file, checked):
                mine = queue.claim(place, token, QUEUED)
                if mine is not None:
                    claimed[place.id] = mine
                    parcels.append(Parcel(file.task, str(token), carried(file)))
    launched: list[Launched] = []
    try:
        launched = launcher.carry(queue, parcels) if parcels else []
    finally:
        begun = {one.task for one in launched if one.job}
        for task, mine in claimed.items():
            if task not in begun:
                queue.move(mine, ended(mine, QUEUED))
    return launched


def carried(file: TaskFile) -> bytes:
    """The task's file as its job gets it: what it waited for has happened, and our directories are not there."""
    task = msgspec.structs.replace(file.task, after=(), check="", cwd=file.task.cwd if file.task.code else "")
    data = render(task)
    fence = data.split(b"\n", 1)[0].split()[2].decode()
    return data + b"".join(render_attempt(attempt, fence) for attempt in file.attempts)


def _check(file: TaskFile, known: dict[tuple[str, str], bool]) -> bool:
    """Where it was submitted: what a check looks at is usually there."""
    task = file.task
    if not task.check:
        return True
    key = task.check, task.cwd
    if key not in known:
        try:
            done = subprocess.run(
                ["/bin/sh", "-c", task.check],
                cwd=task.cwd or None,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=CHECK_SECONDS,
                check=False,
            )
            known[key] = done.returncode == 0
        except (OSError, subprocess.TimeoutExpired):
            known[key] = False
    return known[key]

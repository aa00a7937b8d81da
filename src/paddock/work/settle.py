"""The end of an attempt: what became of it is written down, then the task's file goes where it belongs."""

from __future__ import annotations

from typing import NamedTuple

from paddock.queue.directory import DirectoryQueue
from paddock.queue.lifecycle import ACTIVE, DONE, FAILED, PAUSED, QUEUED, Place, ended
from paddock.queue.task import render_attempt
from paddock.work import attempt as attempts
from paddock.work.attempt import Running


class End(NamedTuple):
    """How an attempt ended."""

    result: str  # done, failed, killed, cancelled, requeued, fenced, timed out
    text: str  # in words: "exit code 3"
    status: int | None = None  # as from waitpid
    seconds: float = 0.0
    peak_memory: int = 0


def settle(queue: DirectoryQueue, running: Running, end: End, worker: str) -> None:
    attempts.finish(running, end.status, end.text)
    note = attempts.attempt_note(running, worker, end.result, end.text, end.seconds, end.peak_memory)
    if end.result == "cancelled":
        return  # its file is gone, or somebody else's
    place = _where(queue, running)
    if place is None:
        return
    queue.append(place, render_attempt(note, running.file.fence))
    queue.move(place, ended(place, destination(place, running, end.result)))


def destination(place: Place, running: Running, result: str) -> str:
    """The state that a task goes to. Pure."""
    if place.state not in (ACTIVE, PAUSED):
        return place.state  # a person has said where it belongs
    if result == "done":
        return DONE
    if result in ("requeued", "fenced"):
        return QUEUED if place.state == ACTIVE else PAUSED
    failures = sum(a.outcome in ("failed", "timed out") for a in running.file.attempts)
    return QUEUED if failures < running.task.retries else FAILED


def _where(queue: DirectoryQueue, running: Running) -> Place | None:
    listing = queue.list([ACTIVE, PAUSED, QUEUED, FAILED, DONE])
    return next((p for p in listing.places if p.token == running.place.token and p.id == running.place.id), None)

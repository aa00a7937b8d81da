"""Tasks from one queue to another, which may be on another disk. None is lost and none runs in both.

What could run is first held: its file goes to paused/ under a token of ours, so that no worker takes it. Then it
crosses, by one rename on the same disk, else (also from or to a Redis) as a copy that is held over there in the same
way before the original goes. Last the token comes off. Whoever dies in between leaves the task held, for everybody to
see.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import socket
from collections.abc import Mapping, Sequence

from paddock.errors import NotFound, PaddockError, Refused, Unreachable
from paddock.queue.directory import DirectoryQueue
from paddock.queue.lifecycle import CHECKING, DONE, FAILED, MOVER, OWNED, PAUSED, QUEUED, Place, Token, settle
from paddock.queue.order.orders import Step, find
from paddock.queue.protocol import Queue
from paddock.queue.show.view import Entry
from paddock.queue.task import without

MOVABLE = (QUEUED, PAUSED, FAILED, DONE)
NOTHING: Mapping[str, frozenset[str]] = {}
_TRIES = 20


def check(
    chosen: Sequence[Entry], everyone: Mapping[str, Entry], there: Mapping[str, str]
) -> dict[str, frozenset[str]]:
    """Refused when a task would be parted from one that it waits for, or that waits for it. `there` are the tasks of
    the other queue, and their states. What comes back are dependencies, by task, that need not come along because what
    was waited for has happened."""
    ids = {entry.id for entry in chosen}
    for entry in chosen:
        if entry.state in OWNED or entry.worker:
            raise Refused(
                f"{entry.id} is {entry.state} and belongs to a worker.",
                hint="`paddock cancel` ends it; what runs cannot change its queue.",
            )
        if entry.id in there:
            raise Refused(f"The other queue has a task {entry.id} already ({there[entry.id]}).")
    settled: dict[str, set[str]] = {}
    for entry in everyone.values():
        if entry.state not in (QUEUED, PAUSED, CHECKING) or entry.file is None:
            continue  # it waits for nothing any more
        for wanted in entry.file.task.after:
            other = wanted.task
            if entry.id not in ids and other in ids:
                raise Refused(f"{entry.id} waits for {other} in this queue.", hint=f"Move {entry.id} too.")
            if entry.id in ids and other not in ids and other not in there:
                state = everyone[other].state if other in everyone else ""
                if not settle([wanted], {other: state}).ready:
                    raise Refused(f"{entry.id} waits for {other}, which would stay behind.", hint=f"Move {other} too.")
                settled.setdefault(entry.id, set()).add(other)
    return {task: frozenset(others) for task, others in settled.items()}


def refuse_unfit(chosen: Sequence[Entry], target: Queue) -> None:
    """Refused when a task could not be in the other queue at all."""
    for entry in chosen:
        if entry.file is None:
            raise Refused(f"{entry.id} cannot be read ({entry.trouble or 'it is gone'}), and is left where it is.")
        if entry.file.task.workers > 1 and not target.abilities.ranks:
            raise Refused(
                f"{entry.id} has {entry.file.task.workers} ranks, which cannot meet in {target.address}.",
                hint="Such a task needs a queue in a directory.",
            )


def transfer(
    source: Queue,
    target: Queue,
    chosen: Sequence[Entry],
    settled: Mapping[str, frozenset[str]] = NOTHING,
) -> tuple[list[Step], list[str]]:
    """(what was moved, why the others were not). All are held before the first one crosses: else one that waits for
    another would miss it on this side. `settled` is what `check` returned."""
    worker = _name()
    held: dict[str, tuple[Place, Place]] = {}  # id -> where it was, where it is held
    crossed: list[str] = []
    left: list[str] = []
    try:
        for entry in chosen:
            try:
                held[entry.id] = _hold(source, entry, worker)
            except PaddockError as error:
                left.append(error.message)
        for task, (_, at) in held.items():
            if _cross(source, target, at, settled.get(task, frozenset()) if at.token is not None else frozenset()):
                crossed.append(task)
            else:
                left.append(f"{task} was taken away meanwhile.")
    finally:  # also when a disk refuses half-way: each is let go of on the side where it is
        for task, (before, at) in held.items():
            if at != before:
                (target if task in crossed else source).move(at, before)
        for queue in (source, target):
            queue.sync(MOVABLE)
    return [Step(task, held[task][0], held[task][0]) for task in crossed], left


def _name() -> str:
    """Like a worker's: what we hold is somebody's. Nobody has a file under this name, so after a while everybody knows
    that we are dead, and the next worker takes the token off."""
    host = re.sub(r"[^A-Za-z0-9]+", "-", socket.gethostname().split(".")[0])[:40].strip("-") or "host"
    return f"{MOVER}{host}-{os.getpid()}-{secrets.token_hex(3)}"


def _hold(queue: Queue, entry: Entry, worker: str) -> tuple[Place, Place]:
    at = entry.place
    token = Token(worker, len(entry.file.attempts) + 1 if entry.file else 1)
    for _ in range(_TRIES):
        if at.token is not None or at.state not in MOVABLE:
            raise Refused(f"{at.id} is {at.state} now.")
        if at.state in (DONE, FAILED):  # it does not run: nothing to hold
            return at, at
        held = at._replace(state=PAUSED, token=token)
        if queue.move(at, held):
            return at, held
        found = find(queue, at.id)
        if found is None:
            raise NotFound(f"{at.id} was removed from the queue meanwhile.")
        at = found
    raise Refused(f"{at.id} is moved again and again.")


def _cross(source: Queue, target: Queue, at: Place, settled: frozenset[str]) -> bool:
    if isinstance(source, DirectoryQueue) and isinstance(target, DirectoryQueue):
        if settled:
            source.place_copy(without(source.raw(at), settled), at)
        return _rename(source, target, at)
    try:
        data = source.raw(at)
    except FileNotFoundError:
        return False
    try:
        target.place_copy(without(data, settled) if settled else data, at)
    except Unreachable:
        with contextlib.suppress(PaddockError):  # it may have arrived: two would wait for people to choose
            target.remove(at)
        raise
    if not source.remove(at):
        target.remove(at)  # somebody took it from us: theirs counts
        return False
    return True


def _rename(source: DirectoryQueue, target: DirectoryQueue, at: Place) -> bool:
    try:
        os.rename(source.file(at), target.file(at))
        return True
    except FileNotFoundError:
        return at.token is not None and at.name in os.listdir(target.directory(at.state))
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
    try:
        target.place_copy(source.file(at).read_bytes(), at)
    except FileNotFoundError:
        return False
    try:
        os.unlink(source.file(at))
    except FileNotFoundError:
        if at.name in os.listdir(source.directory(at.state)):
            raise
        # Somebody took it from us: theirs counts. What runs nowhere may be in both.
        os.unlink(target.file(at))
        return False
    return True

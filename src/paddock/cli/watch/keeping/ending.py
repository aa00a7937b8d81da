"""Ending watchers and the workers that they started: an order, a signal where that is possible, and the wait."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterable, Sequence

from paddock.evaluate.ledger.watcher import FACTS, Seen, directory, remove
from paddock.queue.show.roster import DEAD
from paddock.record.layout import Home
from paddock.record.process import exists
from paddock.work.processes import process

_PAUSE = 0.05  # seconds between two looks


def order(home: Home, seen: Seen) -> None:
    """Its file is the switch; on this machine a signal makes it look at once."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(directory(home) / seen.name)
    if seen.here:
        signal_one(seen.pid, seen.start, signal.SIGTERM)


def wait(home: Home, ordered: Sequence[Seen], seconds: float) -> list[Seen]:
    """Those that have not ended by then. One on another machine has when it has taken its facts away."""
    end = time.monotonic() + seconds
    left = list(ordered)
    while left := [seen for seen in left if _lives(home, seen)]:
        if time.monotonic() >= end:
            break
        time.sleep(_PAUSE)
    return left


def kill(home: Home, left: Iterable[Seen]) -> None:
    """Those on this machine, and their workers, whose guards end the evaluations."""
    for seen in left:
        if seen.here:
            signal_one(seen.pid, seen.start, signal.SIGKILL)
            for pid, start in seen.facts.workers:
                signal_one(pid, start, signal.SIGKILL)
            remove(home, seen.name)


def end_orphans(home: Home, dead: Iterable[Seen]) -> list[tuple[int, str]]:
    """The workers that a dead watcher left, asked to end; and what is left of the watcher itself is removed."""
    asked = []
    for seen in dead:
        if seen.state == DEAD:
            asked += [worker for worker in seen.facts.workers if signal_one(*worker, signal.SIGTERM)]
            remove(home, seen.name)
    return asked


def wait_for_processes(found: Iterable[tuple[int, str]], seconds: float) -> list[tuple[int, str]]:
    end = time.monotonic() + seconds
    left = list(found)
    while left := [one for one in left if exists(*one)]:
        if time.monotonic() >= end:
            break
        time.sleep(_PAUSE)
    return left


def signal_one(pid: int, start: str, number: int) -> bool:
    """That very process, or nobody."""
    found = process.look(pid)
    return found is not None and found.lives and str(found.start) == start and process.send(found, number)


def _lives(home: Home, seen: Seen) -> bool:
    if seen.here:
        return exists(seen.pid, seen.start)
    return any(entry == seen.name + FACTS for entry in os.listdir(directory(home)))

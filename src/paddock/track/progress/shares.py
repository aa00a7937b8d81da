"""The bars that this process has a share in: one object for each, kept until it ends, so that the same bar handed over
twice is counted once."""

from __future__ import annotations

import atexit
import itertools
import os
import sys
import threading
from typing import TYPE_CHECKING

from paddock.track import terminated
from paddock.track.ending import Ending, by_exception

if TYPE_CHECKING:
    from paddock.track.progress.progress import Progress
    from paddock.track.run import Run

_lock = threading.RLock()  # re-entrant: a signal may come in between, and have what waits written
_known: dict[str, Progress] = {}
_over: set[str] = set()
_numbers = itertools.count(1)
_occurrences: dict[tuple[str, bytes], int] = {}
_runs: set[int] = set()  # those that know of us
_leaving: set[int] = set()  # processes that will write what waits when they leave
_fork_hook = False


def number() -> int:
    return next(_numbers)


def occurrence(run: Run, words: bytes) -> int:
    """How many bars of these words this process has begun in the run before."""
    with _lock:
        key = (run.id, words)
        _occurrences[key] = _occurrences.get(key, -1) + 1
        return _occurrences[key]


def keep(run: Run, bar: Progress) -> None:
    global _fork_hook
    with _lock:
        _known[bar.id] = bar
        if not _fork_hook:
            os.register_at_fork(after_in_child=_after_fork)
            _fork_hook = True
        if id(run) not in _runs:
            _runs.add(id(run))
            run._gatherers.append(write_waiting)
            run._before_finish.append(end)
    _write_when_leaving()


def rename(before: str, bar: Progress) -> None:
    with _lock:
        _known.pop(before, None)
        _known[bar.id] = bar


def forget(bar: Progress) -> None:
    with _lock:
        if _known.pop(bar.id, None) is not None:
            _over.add(bar.id)


def is_over(id: str) -> bool:
    """It was begun here and has ended: a copy that comes back from elsewhere has no share in it."""
    return id in _over


def find(id: str) -> Progress | None:
    return _known.get(id)


def found_or(id: str, made: Progress) -> Progress:
    with _lock:
        return _known.setdefault(id, made)


def write_waiting() -> bool:
    """Whether any was waiting: then there will soon be more."""
    return sum(bar._write_waiting() for bar in list(_known.values())) > 0


def end(ending: Ending) -> None:
    """The run ends: what still runs ends as it does."""
    for bar in list(_known.values()):
        bar._ended(ending.code != 0)
    with _lock:
        _known.clear()
        _over.clear()
        _runs.clear()
        _occurrences.clear()


def process_ended() -> None:
    # multiprocessing calls this while what a process has raised is on its way; of a program it has been printed by now.
    kind, value, trace = sys.exc_info()
    failed = by_exception(kind, value, trace).code != 0 if kind is not None else hasattr(sys, "last_type")
    for bar in list(_known.values()):
        bar._process_ended(failed)


def _after_fork() -> None:
    global _lock
    _lock = threading.RLock()
    for bar in _known.values():
        bar._forked()


def _write_when_leaving() -> None:
    """A process that is no main one ends without finish(); one of multiprocessing without atexit, too."""
    if os.getpid() in _leaving:
        return
    _leaving.clear()
    _leaving.add(os.getpid())
    processes = sys.modules.get("multiprocessing.process")
    if processes is not None and processes.parent_process() is not None:
        from multiprocessing.util import Finalize

        Finalize(None, process_ended, exitpriority=100)
        terminated.before_end(write_waiting)
    else:
        atexit.register(process_ended)

"""Where runs worked: what a relative path in their config means, and which one trains into a directory that it does not
name."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from paddock import wire
from paddock.evaluate.origin.place import real
from paddock.model import RUNNING, RunRow
from paddock.record.layout import Home

NEWEST = 1000  # runs that may have trained into a directory which they do not name
_SLACK_SECONDS = 1.0  # the clocks of disks are coarse


def meant(home: Home, run: RunRow, word: str) -> str:
    """The place that a relative path of a run is; "" when nobody knows where the run worked."""
    cwd = working_directory(home, run)
    return real(os.path.join(cwd, word)) if cwd else ""


def below(home: Home, run: RunRow, word: str) -> str:
    """The same, but for `./` and `..`: all that lies there is not of this run."""
    place = meant(home, run, word)
    return place if place and not _is_in(real(working_directory(home, run)), place) else ""


def working_directory(home: Home, run: RunRow) -> str:
    try:
        return _cwd(str(home.run(run.id).facts))
    except (OSError, UnicodeDecodeError, wire.DecodeError):
        return ""


def only_one(home: Home, place: str, runs: Sequence[RunRow], words: Callable[[RunRow], Iterable[str]]) -> RunRow | None:
    """The one of these that worked above a directory when its newest checkpoint came. None when several did, or when
    it names another directory: then nobody knows what it does there."""
    newest = _newest(place) if runs else None
    then = [run for run in runs if newest is not None and _was_on(run, newest)]
    cwds = [(real(cwd), run) for run in then if (cwd := working_directory(home, run))]
    above = [(cwd, run) for cwd, run in cwds if len(cwd) > 1 and _is_in(place, cwd)]
    nearest = max((cwd for cwd, _ in above), key=len, default="")
    best = [run for cwd, run in above if cwd == nearest]
    if len(best) != 1:
        return None
    named = [real(os.path.join(nearest, word)) for word in words(best[0])]
    return None if any(os.path.isdir(one) and not _is_in(nearest, one) for one in named) else best[0]


def _is_in(place: str, directory: str) -> bool:
    return place == directory or place.startswith(directory.rstrip("/") + "/")


def _newest(place: str) -> float | None:
    """When the newest of what lies there was written, for the directory itself changes by our pins; 0 when it is
    empty."""
    try:
        with os.scandir(place) as entries:
            times = [entry.stat(follow_symlinks=False).st_mtime for entry in entries if entry.name[0] != "."]
    except OSError:
        return None
    return max(times, default=0.0)


def _was_on(run: RunRow, moment: float) -> bool:
    began = (run.started or run.created) - _SLACK_SECONDS
    if run.state == RUNNING:
        return began <= moment or not moment
    return began <= moment <= (run.ended or run.seen) + _SLACK_SECONDS


@lru_cache(10_000)
def _cwd(facts: str) -> str:
    """It is written once."""
    with open(facts, "rb") as file:
        found = wire.loads(file.read())
    cwd = found.get("cwd") if isinstance(found, dict) else None
    return cwd if isinstance(cwd, str) and os.path.isabs(cwd) else ""

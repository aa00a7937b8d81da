"""Where runs worked: what a relative path in their config means, and which one trains into a directory that it does not
name."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from functools import lru_cache

from paddock import wire
from paddock.evaluate.formats.remarks import is_remark
from paddock.evaluate.origin.place import real
from paddock.model import RUNNING, RunRow
from paddock.record.layout import Home

NEWEST = 1000  # runs that may have trained into a directory which they do not name
_LAST = 20  # checkpoints
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


def places(home: Home, runs: Iterable[RunRow]) -> list[tuple[str, RunRow]]:
    """Where each of them worked, of those of which it is known. What works in everybody's place says nothing by it."""
    found = ((real(cwd), run) for run in runs if (cwd := working_directory(home, run)))
    everybodys = {"/", real("/tmp"), real(os.path.expanduser("~"))}
    return [(cwd, run) for cwd, run in found if cwd not in everybodys]


def only_one(
    place: str, worked: Iterable[tuple[str, RunRow]], words: Callable[[RunRow], Iterable[str]]
) -> RunRow | None:
    """The one that worked above a directory when its newest checkpoint came. None when several did, or when it names
    another directory: then nobody knows what it does there."""
    above = [(cwd, run) for cwd, run in worked if _is_in(place, cwd)]
    times = _times(place) if above else None
    if times is None:
        return None
    # What was written later than all of them is of somebody else: of an evaluator, say.
    several = (found for time in times if (found := [one for one in above if _was_on(one[1], time)]))
    then = next(several, []) if times else [one for one in above if one[1].state == RUNNING]
    nearest = max((cwd for cwd, _ in then), key=len, default="")
    best = [run for cwd, run in then if cwd == nearest]
    if len(best) != 1:
        return None
    named = [real(os.path.join(nearest, word)) for word in words(best[0])]
    return None if any(os.path.isdir(one) and not _is_in(nearest, one) for one in named) else best[0]


def _is_in(place: str, directory: str) -> bool:
    return place == directory or place.startswith(directory.rstrip("/") + "/")


def _times(place: str) -> list[float] | None:
    """When the newest of what lies there was written, the last one first. Not when the directory itself was changed,
    which our pins and links do, too."""
    try:
        with os.scandir(place) as entries:
            written = [entry for entry in entries if entry.name[0] != "." and not entry.is_symlink()]
            times = [entry.stat().st_mtime for entry in written if not is_remark(entry.name)]
    except OSError:
        return None
    return sorted(times, reverse=True)[:_LAST]


def _was_on(run: RunRow, moment: float) -> bool:
    began = (run.started or run.created) - _SLACK_SECONDS
    return began <= moment and (run.state == RUNNING or moment <= (run.ended or run.seen) + _SLACK_SECONDS)


@lru_cache(10_000)
def _cwd(facts: str) -> str:
    """It is written once."""
    with open(facts, "rb") as file:
        found = wire.loads(file.read())
    cwd = found.get("cwd") if isinstance(found, dict) else None
    return cwd if isinstance(cwd, str) and os.path.isabs(cwd) else ""

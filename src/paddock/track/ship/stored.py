"""Runs through an object store: a worker without a server leaves what its tasks wrote there, and a home takes it.

A run goes whole, when an attempt of it has ended; every file of it only grows, so one that is as long over there as
here is the same, and the longer one holds.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from paddock import files
from paddock.errors import PaddockError, UsageError
from paddock.record.layout import Home, check_id
from paddock.track.ship.road import StoreRoad

RUNS = "runs"
_PARTS = {"run.json", "journal", "output", "files"}


def send_runs(home: Home, store: StoreRoad, runs: Sequence[str]) -> str:
    """Why not all is there, as a sentence; "" when it is."""
    try:
        for run in runs:
            there = dict(store.sizes(f"{RUNS}/{run}"))
            for path in _files(home.run(run).path):
                name = f"{RUNS}/{run}/{path.relative_to(home.run(run).path).as_posix()}"
                data = path.read_bytes()
                if there.get(name, -1) < len(data):
                    store.put(name, data)
    except PaddockError as error:
        return error.message
    except OSError as error:
        return f"{error.filename} cannot be read ({error.strerror})"
    return ""


def take_runs(home: Home, store: StoreRoad, wanted: Sequence[str] = ()) -> tuple[list[str], int]:
    """Have here what is over there: the runs that something was new of, and how many bytes that was."""
    found: dict[str, None] = {}
    count = 0
    for name, size in store.sizes(RUNS):
        run, inside = named(name)
        if not run or (wanted and run not in wanted):
            continue
        path = home.run(run).path / inside
        if _size(path) >= size:
            continue
        data = store.get(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        files.replace(path, data)
        found[run] = None
        count += len(data)
    return list(found), count


def named(name: str) -> tuple[str, str]:
    """The run, and the file in it; "" for what is no such name: whoever may write to the store chose it."""
    parts = PurePosixPath(name).parts
    if len(parts) < 3 or parts[0] != RUNS or parts[2] not in _PARTS or any(part in ("..", ".") for part in parts):
        return "", ""
    try:
        return check_id(parts[1]), "/".join(parts[2:])
    except UsageError:
        return "", ""


def _files(directory: Path) -> Iterator[Path]:
    for part in sorted(_PARTS):
        path = directory / part
        yield from [path] if path.is_file() else (one for one in sorted(path.rglob("*")) if one.is_file())


def _size(path: Path) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return -1

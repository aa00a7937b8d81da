"""What goes the other way: what people said of a run at the server (answers, above all), and that it is to stop. It
lies in the server's home, and the process that waits for it looks at its own."""

from __future__ import annotations

import os

from paddock import files, wire
from paddock.errors import UsageError
from paddock.record.layout import Home
from paddock.record.scan import header, journal_files
from paddock.record.stop import NAME as STOP
from paddock.track.ship.parcel import VERSION, Back, Brought

_LARGEST = 1 << 20  # bytes of one file
_MOST = 100  # files at once


def stamp(home: Home, run_id: str) -> int:
    """Another number when there may be something new for the run's client."""
    found = 0
    for name in ("journal", STOP):
        try:
            found += os.stat(f"{home.runs}/{run_id}/{name}").st_mtime_ns
        except OSError:
            continue
    return found


def brought(home: Home, asked: Back) -> list[Brought]:
    """Annotations that are whole and that the client does not have, and the wish that the run stop."""
    if asked.v != VERSION:
        raise UsageError(f"Version {asked.v} of the protocol is unknown here; this is version {VERSION}.")
    directory = home.run(asked.run)
    found: list[Brought] = []
    known = frozenset(asked.known)
    for file in journal_files(directory.journals):
        if file.packed or file.writer in known or file.size > _LARGEST or len(found) >= _MOST:
            continue
        if header(file.path).get("role") == "annotation":
            data = files.read_from(file.path, 0)
            last = wire.read_line(data[:-1].rpartition(b"\n")[2]) if data.endswith(b"\n") else None
            if isinstance(last, dict) and last.get("k") == "end":
                private = not os.stat(file.path).st_mode & 0o077
                found.append(Brought(f"journal/{file.writer}.jsonl", data.decode("utf-8", "replace"), private))
    try:
        found.append(Brought(STOP, files.read_from(directory.path / STOP, 0, _LARGEST).decode("utf-8", "replace")))
    except OSError:
        pass
    return found

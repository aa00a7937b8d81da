"""What each process of a run used last: the ends of its journals are read, however long they are."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from paddock import wire
from paddock.compare.usage.reading import STARTS, Samples, Who, event, who_of
from paddock.record.scan import header, journal_files, read_journal

_TAIL = 1 << 16  # bytes


class Now(NamedTuple):
    who: Who
    time: float
    values: dict[str, float]  # by the columns of the records: cpu, rss, gpu, ...


def latest(run: Path) -> list[Now]:
    """One for each process that has written usage lately; packed journals are of processes that are over."""
    found: dict[Who, Now] = {}
    for file in journal_files(run / "journal"):
        if file.packed:
            continue
        try:
            tail = read_journal(file, max(0, file.size - _TAIL))
            who = who_of(header(file.path), file)
        except OSError:
            continue
        for line in reversed(tail.split(b"\n")[:-1]):
            if line.startswith(STARTS[0]):
                last = event(who, file.writer, wire.read_line(line), None)
                if isinstance(last, Samples):
                    values = {name: column[-1] for name, column in last.columns.items()}
                    known = {name: value for name, value in values.items() if value is not None}
                    if last.who not in found or found[last.who].time < last.times[-1]:
                        found[last.who] = Now(last.who, last.times[-1], known)
                    break
    return list(found.values())

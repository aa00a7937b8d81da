"""The usage of a run, from its journals: whichever home they are in, or none. Streamed: a day of a hundred processes
needs no more memory than a minute."""

from __future__ import annotations

import gzip
import math
import zlib
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from paddock import wire
from paddock.record.scan import JournalFile, header, journal_files, lines_of

_BEYOND, _LONGEST = 1e11, 1e6  # seconds: no clock and no pause between two samples goes so far
_MOST = 1e18  # no process uses more of anything
STARTS = (b'{"k":"usage"', b'{"k":"usage_mark"')


class Who(NamedTuple):
    """A process, or all processes of a task together, as their worker saw them from outside."""

    host: str
    pid: int
    start: str
    attempt: int = 1
    role: str = "main"
    rank: int | None = None
    tree: bool = False


class Samples(NamedTuple):
    """A batch: each column has as many values as there are times."""

    who: Who
    every: float  # seconds that each sample tells of
    times: list[float]
    columns: dict[str, Sequence[float | None]]
    writer: str  # the journal


class Mark(NamedTuple):
    who: Who
    time: float
    text: str


class Damage(NamedTuple):
    lines: int


Event = Samples | Mark | Damage


def events(journals: Path, columns: Collection[str] | None = None) -> Iterator[Event]:
    """Everything of usage, one journal after the other; of the samples only these columns, if any are named."""
    for file in journal_files(journals):
        try:
            who = who_of(header(file.path, file.packed), file)
            for line in lines_of(file, STARTS):
                yield event(who, file.writer, wire.read_line(line), columns)
        except (OSError, EOFError, zlib.error, gzip.BadGzipFile):  # gone meanwhile, not ours to read, or broken
            yield Damage(1)


def event(who: Who, writer: str, record: Any, columns: Collection[str] | None) -> Event:
    if not isinstance(record, dict) or not _is_number(record.get("t")) or not 0 < record["t"] < _BEYOND:
        return Damage(1)
    at = float(record["t"])
    if record["k"] == "usage_mark":
        words = record.get("msg")
        return Mark(who, at, " ".join(map(_word, words if isinstance(words, list) else [words])))
    return _samples(who, writer, at, record, columns) or Damage(1)


def _samples(
    who: Who, writer: str, at: float, record: dict[str, Any], wanted: Collection[str] | None
) -> Samples | None:
    columns, rows, every = record.get("columns"), record.get("rows"), record.get("every")
    if not (isinstance(columns, list) and isinstance(rows, list) and rows and _is_number(every)):
        return None
    try:
        values = dict(zip(columns, zip(*rows, strict=True), strict=True))
        times = [at + ms / 1000 for ms in values.pop("ms")]
    except (TypeError, ValueError, KeyError, OverflowError):
        return None
    if not 0 < times[0] <= times[-1] < _BEYOND or sorted(times) != times:
        return None
    found = {name: _column(column) for name, column in values.items() if wanted is None or name in wanted}
    seconds = float(min(max(every or 0, 1e-3), _LONGEST))
    return Samples(who._replace(tree=True) if record.get("tree") else who, seconds, times, found, writer)


def who_of(about: dict[str, Any], file: JournalFile) -> Who:
    pid, attempt, rank = (about.get(name) for name in ("pid", "attempt", "rank"))
    return Who(
        str(about.get("host") or ""),
        pid if isinstance(pid, int) else 0,
        str(about.get("start") or file.writer),
        attempt if isinstance(attempt, int) else 1,
        str(about.get("role") or "main"),
        rank if isinstance(rank, int) else None,
    )


def _is_number(value: Any) -> bool:
    return type(value) is int or (type(value) is float and math.isfinite(value))


def _column(values: Sequence[Any]) -> Sequence[float | None]:
    """Numbers of a sensible size; what is none is not known. Mostly there are only such, and two calls see that."""
    try:
        if min(values) >= 0 and max(values) < _MOST:
            return values
    except TypeError:
        pass
    return [*map(_number, values)]


def _number(value: Any) -> float | None:
    return value if (type(value) is int or type(value) is float) and 0 <= value < _MOST else None


def _word(value: Any) -> str:
    return value if isinstance(value, str) else wire.dumps(value).decode()

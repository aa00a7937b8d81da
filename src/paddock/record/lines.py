"""Reading what the `logging` module was given: page by page, from any place, merged over all processes of a run.

Each process writes a file of its own in `logs/`, in the order of time. A page costs what it shows, however long the
files are: it is read from its place, block by block, and the next line of each file is all that is held.
"""

from __future__ import annotations

import heapq
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from io import FileIO
from pathlib import Path
from typing import Any, NamedTuple

from paddock import wire
from paddock.errors import UsageError
from paddock.files import open_regular
from paddock.model import LogLine
from paddock.record.scan import PLAIN, JournalFile, header, journal_files

BLOCK_BYTES = 1 << 14
PROBE_BYTES = 1 << 11  # to find the line at a place
MOST_BLOCK_BYTES = 1 << 20
SCAN_BYTES = 1 << 20  # that one call looks through for lines that fit; the next goes on from there
SCAN_SECONDS = 1.0  # the same for a pattern of somebody who only asks
LEVELS = {"NOTSET": 0, "DEBUG": 10, "INFO": 20, "WARNING": 30, "WARN": 30, "ERROR": 40, "CRITICAL": 50, "FATAL": 50}

Cursor = Mapping[str, int]  # a place in all files: each writer's offset; one that is not named is at its beginning


@dataclass(frozen=True)
class Match:
    """Which lines are wanted."""

    level: int = 0  # and above
    logger: str = ""  # and those below it
    host: str = ""
    writer: str = ""
    pattern: re.Pattern[str] | None = None  # somewhere in the text, the logger's name or the traceback
    reach: int | None = None  # of a pattern of somebody who only asks: how many letters of a text it may look at

    def fits(self, line: LogLine) -> bool:
        if line.level < self.level or (self.host and line.host != self.host):
            return False
        if self.writer and line.writer != self.writer:
            return False
        if self.logger and line.logger != self.logger and not line.logger.startswith(self.logger + "."):
            return False
        search = self.pattern.search if self.pattern else None
        return search is None or any(search(text[: self.reach]) for text in (line.text, line.logger, line.trace))


EVERY = Match()


class Page(NamedTuple):
    lines: list[LogLine]  # in the order of time
    start: dict[str, int]  # `before` this come the earlier ones
    end: dict[str, int]  # `after` this the later ones
    more: bool  # in the direction that was read
    damaged: int = 0


def tail(directory: Path, count: int, match: Match = EVERY) -> Page:
    """The last lines of a run's `logs/`."""
    return before(directory, None, count, match)


def before(directory: Path, cursor: Cursor | None, count: int, match: Match = EVERY) -> Page:
    """The lines that come before a place (None: the end)."""
    found, places, ends, more, damaged = _merged(directory, cursor, count, match, backward=True)
    return Page(found[::-1], places, ends, more, damaged)


def after(directory: Path, cursor: Cursor, count: int, match: Match = EVERY) -> Page:
    """The lines that come after a place, as far as they are written."""
    found, places, starts, more, damaged = _merged(directory, cursor, count, match, backward=False)
    return Page(found, starts, places, more, damaged)


def at(directory: Path, t: float) -> dict[str, int]:
    """The place before the first line of that time or later, in seconds since the epoch."""
    return {file.writer: _first_since(file, t) for file in log_files(directory)}


def log_files(directory: Path) -> list[JournalFile]:
    try:
        return [file for file in journal_files(directory) if not file.packed]
    except OSError:  # not ours to read
        return []


def level_number(name: str) -> int:
    """INFO, info or 20."""
    if name.isdigit():
        return int(name)
    try:
        return LEVELS[name.upper()]
    except KeyError:
        raise UsageError(f"{name!r} is no level.", hint=f"It is a number or one of {', '.join(LEVELS)}.") from None


def cursor_text(cursor: Cursor) -> str:
    """As one word that `cursor_of` reads again."""
    return ",".join(f"{writer}:{offset}" for writer, offset in sorted(cursor.items()))


def cursor_of(text: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for part in filter(None, text.split(",")):
        writer, colon, offset = part.rpartition(":")
        if not colon or not writer or not offset.isascii() or not offset.isdigit() or len(offset) > 18:
            raise UsageError(f"{text[:200]!r} is no place in the log lines.", hint="It is what an earlier page said.")
        found[writer] = int(offset)
    return found


@dataclass
class _Source:
    """One file, as it is gone through."""

    file: JournalFile
    lines: Iterator[tuple[int, int, bytes]]  # where it begins, where it ends, what it is
    place: int
    about: dict[str, Any] = field(default_factory=dict)
    damaged: int = 0

    def next(self, backward: bool) -> tuple[LogLine | None, int] | None:
        """The next line, which is None where there is no such record, and the place behind it."""
        for start, end, data in self.lines:
            record = wire.read_line(data)
            if not isinstance(record, dict):
                self.damaged += bool(data.strip(b"\0\r\t ")) or b"\0" in data
                line = None
            else:
                line = self._line(record, start)
            return line, start if backward else end
        return None

    def _line(self, record: dict[str, Any], start: int) -> LogLine | None:
        if record["k"] != "line":
            return None
        if not self.about:
            self.about = header(self.file.path) or {"host": ""}
        rank, pid, level = self.about.get("rank"), self.about.get("pid"), record.get("level")
        return LogLine(
            t=_seconds(record.get("t")),
            level=level if type(level) is int else 0,
            logger=str(record.get("logger") or ""),
            text=str(record.get("text") or ""),
            where=str(record.get("where") or ""),
            thread=str(record.get("thread") or ""),
            trace=str(record.get("trace") or ""),
            writer=self.file.writer,
            host=str(self.about.get("host") or ""),
            pid=pid if type(pid) is int else 0,
            rank=rank if type(rank) is int else None,
            offset=start,
        )


def _merged(
    directory: Path, cursor: Cursor | None, count: int, match: Match, *, backward: bool
) -> tuple[list[LogLine], dict[str, int], dict[str, int], bool, int]:
    sources = []
    for file in log_files(directory):
        place = file.size if cursor is None else min(cursor.get(file.writer, 0), file.size)
        if backward or place <= file.size:
            walk: Callable[[JournalFile, int], Iterator[tuple[int, int, bytes]]] = _backward if backward else _forward
            sources.append(_Source(file, walk(file, place), place))
    origin = {source.file.writer: source.place for source in sources}
    heap: list[tuple[float, int, LogLine, int]] = []  # one line of each source: no two of the same number
    scanned = sum(_push(heap, sources, number, backward) for number in range(len(sources)))
    found: list[LogLine] = []
    late = float("inf") if match.reach is None else time.monotonic() + SCAN_SECONDS
    while heap and len(found) < count and (scanned < SCAN_BYTES or match == EVERY):
        _, key, line, place = heapq.heappop(heap)
        number = abs(key)
        sources[number].place = place
        if match.fits(line):
            found.append(line)
        scanned += _push(heap, sources, number, backward)
        if time.monotonic() > late:
            break
    if not heap:
        for source in sources:  # what follows the last line of all is no line
            source.place = 0 if backward else source.place
    places = {source.file.writer: source.place for source in sources}
    return found, places, origin, bool(heap), sum(source.damaged for source in sources)


def _push(heap: list[tuple[float, int, LogLine, int]], sources: list[_Source], number: int, backward: bool) -> int:
    """Put the next line of a source among those to choose from; how many bytes were passed."""
    source = sources[number]
    at = source.place
    while (found := source.next(backward)) is not None:
        line, place = found
        if line is not None:
            sign = -1 if backward else 1
            heapq.heappush(heap, (sign * line.t, sign * number, line, place))
            return abs(place - at)
        source.place = place
    return abs(source.place - at)


def _backward(file: JournalFile, end: int) -> Iterator[tuple[int, int, bytes]]:
    """Whole lines that end at `end` or before, the last first."""
    size, rest, at = BLOCK_BYTES, b"", end
    behind = True  # nothing is known yet of the line that `end` is in
    with open_regular(file.path) as stream:
        while at > 0:
            begin = max(0, at - size)
            stream.seek(begin)
            data = stream.read(at - begin) + rest
            first = 0 if begin == 0 else data.find(b"\n") + 1
            stop = data.rfind(b"\n") + 1
            if first >= stop and begin > 0:  # a line that is longer than the block
                size, rest, at = min(size * 4, MOST_BLOCK_BYTES), data, begin
                continue
            if behind:
                data, behind = data[:stop], False
            yield from _lines_back(data, first, begin)
            rest, at = data[:first], begin
            size = min(size * 2, MOST_BLOCK_BYTES)


def _lines_back(data: bytes, first: int, begin: int) -> Iterator[tuple[int, int, bytes]]:
    stop = len(data)
    while stop > first:
        start = data.rfind(b"\n", first, stop - 1) + 1 or first
        yield begin + start, begin + stop, data[start : stop - 1]
        stop = start


def _forward(file: JournalFile, start: int) -> Iterator[tuple[int, int, bytes]]:
    size, rest, at = BLOCK_BYTES, b"", start
    with open_regular(file.path) as stream:
        stream.seek(start)
        while at + len(rest) < file.size and (data := stream.read(min(size, file.size - at - len(rest)))):
            *whole, rest = (rest + data).split(b"\n")
            for line in whole:
                yield at, at + len(line) + 1, line
                at += len(line) + 1
            size = min(size * 2, MOST_BLOCK_BYTES)


def _first_since(file: JournalFile, t: float) -> int:
    """By halving: lines are in the order of time, as far as the clock was."""
    low, high = 0, file.size
    with open_regular(file.path) as stream:
        while high - low > PROBE_BYTES:
            middle = (low + high) // 2
            found = _next_time(stream, middle, high)
            if found is None or found[1] >= t:
                high = middle
            else:
                low = found[0]
    for begin, _, data in _forward(file, low):
        if (when := _time_of(data)) is not None and when >= t:
            return begin
    return file.size


def _next_time(stream: FileIO, place: int, end: int) -> tuple[int, float] | None:
    """Where the next line begins behind a place, and its time."""
    size = PROBE_BYTES
    while True:
        stream.seek(place)
        data = stream.read(min(size, end - place))
        begin = data.find(b"\n") + 1
        while begin and (stop := data.find(b"\n", begin)) >= 0:
            if (when := _time_of(data[begin:stop])) is not None:
                return place + begin, when
            begin = stop + 1
        if place + size >= end:
            return None
        size *= 4  # a line that is longer


def _time_of(line: bytes) -> float | None:
    record = wire.read_line(line)
    return _seconds(record.get("t")) if isinstance(record, dict) and record["k"] == "line" else None


def _seconds(t: Any) -> float:
    try:
        return float(t) if type(t) in (int, float) else 0.0
    except OverflowError:
        return 0.0


def exists(directory: Path) -> bool:
    return any(name.endswith(PLAIN) and not name.startswith(".") for name in _names(directory))


def _names(directory: Path) -> list[str]:
    try:
        return os.listdir(directory)
    except OSError:
        return []

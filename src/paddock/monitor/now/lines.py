"""Log lines of many runs as they come, merged in the order of time. Only what is new is read.

A run that keeps log lines (`logs/`) is read there; of any other what it prints (`output/`) is shown, with the time at
which it was seen.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import msgspec

from paddock import files
from paddock.model import LogLine
from paddock.monitor.now.picture import PRINT, Line
from paddock.record import lines as record

MOST = 5000  # lines that are kept
FIRST, EACH = 50, 1000  # lines of a run that is seen for the first time; of one at each further look
TAIL_BYTES = 16 << 10  # of an output that is seen for the first time
LEAP_BYTES = 1 << 20  # of one that grew by more since the last look only the end is read
LONGEST = 4000  # letters of a line
INFO = 20


class Subject(NamedTuple):
    """A run whose lines are wanted."""

    run: str
    name: str
    host: str
    directory: str


class _Output:
    """A file that a run prints to."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._offset, self._rest = -1, b""

    def read(self) -> tuple[list[bytes], float]:
        """Whole lines that are new, and when they came. A print without an end waits for it."""
        try:
            found = os.stat(self.path)
            if found.st_size == self._offset:
                return [], 0.0
            start = self._start(found.st_size)
            data = files.read_from(self.path, start, found.st_size - start)
        except OSError:
            return [], 0.0
        moment = found.st_mtime if self._offset < 0 else time.time()
        leaped, self._offset = start != self._offset, start + len(data)
        if not leaped:
            data = self._rest + data
        elif start:
            data = data.partition(b"\n")[2]  # the first one is cut
        whole, _, self._rest = data.rpartition(b"\n")
        return whole.split(b"\n") if whole else [], moment

    def _start(self, size: int) -> int:
        if self._offset < 0:
            return max(0, size - TAIL_BYTES)
        if size < self._offset:
            return 0  # another file of the same name
        return size - TAIL_BYTES if size - self._offset > LEAP_BYTES else self._offset


class _Reading:
    """One run, and how far it was read."""

    def __init__(self) -> None:
        self._cursor: dict[str, int] | None = None
        self._outputs: dict[str, _Output] = {}
        self._sizes: tuple[tuple[str, int], ...] = ()

    def read(self, subject: Subject) -> list[Line]:
        logs = Path(subject.directory, "logs")
        sizes = tuple((file.writer, file.size) for file in record.log_files(logs))
        if not sizes:
            return self._printed(subject)
        if sizes == self._sizes:
            return []
        self._sizes = sizes
        page = record.tail(logs, FIRST) if self._cursor is None else record.after(logs, self._cursor, EACH)
        if self._cursor is not None and page.more:
            page = record.tail(logs, EACH)  # it writes faster than anybody reads
        self._cursor = page.end
        return [_line(one, subject) for one in page.lines]

    def _printed(self, subject: Subject) -> list[Line]:
        for path in _newest(f"{subject.directory}/output"):
            output = self._outputs.setdefault(path, _Output(path))
            lines, moment = output.read()
            return [_print(raw, moment, subject) for raw in lines if raw.strip()]
        return []


class LineReader:
    def __init__(self) -> None:
        self._readings: dict[str, _Reading] = {}
        self._lines: deque[Line] = deque(maxlen=MOST)
        self.count = 0

    def look(self, subjects: Iterable[Subject]) -> None:
        wanted = list(subjects)
        found = [line for one in wanted for line in self._readings.setdefault(one.run, _Reading()).read(one)]
        for gone in self._readings.keys() - {one.run for one in wanted}:
            del self._readings[gone]
        found.sort(key=lambda line: line.time)
        for line in found:
            self.count += 1
            self._lines.append(msgspec.structs.replace(line, n=self.count))

    def after(self, n: int, most: int = MOST) -> tuple[Line, ...]:
        """Those behind the n-th, the last `most` of them. Who names one that never was had another reader before."""
        if n > self.count:
            n = 0
        return tuple(list(self._lines)[-min(most, self.count - n) :]) if n < self.count else ()


def _line(one: LogLine, subject: Subject) -> Line:
    return Line(
        n=0,
        time=one.t,
        level=one.level,
        text=_cut(f"{one.text}\n{one.trace}" if one.trace else one.text),
        logger=one.logger,
        where=one.where,
        run=subject.run,
        run_name=subject.name,
        host=one.host or subject.host,
        rank=one.rank,
    )


def _print(raw: bytes, moment: float, subject: Subject) -> Line:
    return Line(
        n=0,
        time=moment,
        level=INFO,
        text=_cut(last_drawn(raw.decode("utf-8", "replace"))),
        logger=PRINT,
        run=subject.run,
        run_name=subject.name,
        host=subject.host,
    )


def last_drawn(text: str) -> str:
    """A bar that was drawn over itself is what was drawn last."""
    return text.rstrip("\r").rpartition("\r")[2]


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}... ({len(text) - LONGEST:,} more)"


def _newest(directory: str) -> list[str]:
    """The last attempt's."""
    try:
        names = [name for name in os.listdir(directory) if name.endswith(".log") and not name.startswith(".")]
    except OSError:
        return []
    return [f"{directory}/{name}" for name in sorted(names, key=lambda name: (len(name), name))[-1:]]

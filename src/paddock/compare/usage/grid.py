"""Samples of many processes on one time axis, in bins that become wider as the time grows: memory does not grow with
the number of samples. Pure."""

from __future__ import annotations

from collections.abc import Sequence

LATE = 3.0  # times the interval that a sample may come after the one before it, with nothing missing between them
LEAST_WIDTH = 0.125  # seconds
UNKNOWN = 3  # samples in a row whose value nobody knew, in which it is taken to have stayed what it was

Cell = dict[int, float]  # bin -> the integral of a value over the seconds of it that were sampled


class Line:
    """One process: for each column its integral by bin, its sum over all of its time, and its largest value."""

    __slots__ = ("bins", "first", "integrals", "last", "peaks", "seconds", "unknown", "until", "values")

    def __init__(self, columns: int) -> None:
        self.bins: list[Cell] = [{} for _ in range(columns)]
        self.integrals = [0.0] * columns
        self.peaks: list[float | None] = [None] * columns
        self.values: list[float | None] = [None] * columns  # the last that was known
        self.unknown = [0] * columns  # samples since then
        self.seconds = 0.0  # sampled
        self.first, self.last = float("inf"), float("-inf")
        self.until = float("-inf")  # what came before is in already

    def bridged(self, at: int, column: Sequence[float | None]) -> Sequence[float | None]:
        """Without the gaps of a busy driver that did not answer in time: unknown is not nothing."""
        if not column:
            return column
        if None not in column:
            self.values[at], self.unknown[at] = column[-1], 0
            return column
        found: list[float | None] = []
        for value in column:
            if value is None:
                self.unknown[at] += 1
                found.append(self.values[at] if self.unknown[at] <= UNKNOWN else None)
            else:
                self.values[at], self.unknown[at] = value, 0
                found.append(value)
        return found

    def note_peaks(self, values: Sequence[Sequence[float | None]]) -> None:
        for at, column in enumerate(values):
            if known := _known(column):
                peak, most = self.peaks[at], max(known)
                if peak is None or most > peak:
                    self.peaks[at] = most


class Grid:
    def __init__(self, columns: Sequence[str], limit: int = 1000) -> None:
        """At most `limit` bins, and at least half as many when there is enough to fill them."""
        self.columns, self._limit = tuple(columns), max(limit, 2)
        self.width = LEAST_WIDTH
        self.first, self.last = float("inf"), float("-inf")
        self.lines: dict[object, Line] = {}

    def add(self, key: object, times: Sequence[float], every: float, values: Sequence[Sequence[float | None]]) -> None:
        """A batch of samples of a process, in the order of time, each of which tells of the `every` seconds before it,
        or of the time since the one before it where it came late; `values` are those of each column, empty for a column
        that the batch does not have."""
        line = self.lines.get(key)
        if line is None:
            line = self.lines[key] = Line(len(self.columns))
        begin = _begin(times[0], every, line.until)
        line.first = min(line.first, begin)
        self._reach(min(begin, times[0]), times[-1])
        line.note_peaks(values)
        values = [line.bridged(at, column) for at, column in enumerate(values)]
        if int(begin // self.width) == int(times[-1] // self.width) and times[-1] > begin:
            self._add_whole(line, begin, times[-1], values)
        else:
            for at, row in enumerate(times):
                start = _begin(row, every, line.until)
                if row > start:
                    self._add_one(line, start, row, [column[at] if column else None for column in values])
                line.until = max(line.until, row)
        line.until = max(line.until, times[-1])
        line.last = max(line.last, times[-1])

    def next_journal(self) -> None:
        """The samples of one journal follow each other; what comes now may be of any time."""
        for line in self.lines.values():
            line.until = float("-inf")
            line.values = [None] * len(line.values)

    def means(self, key: object, column: int) -> list[float]:
        """Of every bin, from the first to the last; 0 where the process was not there."""
        bins = self.lines[key].bins[column]
        return [bins.get(at, 0.0) / self._covered(at) for at in range(self.begin, self.end)]

    @property
    def begin(self) -> int:
        return int(self.first // self.width)

    @property
    def end(self) -> int:
        return max(self.begin + 1, int(-(-self.last // self.width)))

    def _covered(self, at: int) -> float:
        """The seconds of a bin that lie within the time of the whole picture: its ends are not full bins."""
        inside = min((at + 1) * self.width, self.last) - max(at * self.width, self.first)
        return max(inside, self.width / 100)

    def _reach(self, first: float, last: float) -> None:
        self.first, self.last = min(self.first, first), max(self.last, last)
        while self.end - self.begin > self._limit:
            self.width *= 2
            for line in self.lines.values():
                line.bins = [_coarser(cell) for cell in line.bins]

    def _add_whole(self, line: Line, begin: float, end: float, values: Sequence[Sequence[float | None]]) -> None:
        """A batch inside of one bin, as nearly all are when the time is long."""
        bin, seconds = int(begin // self.width), end - begin
        line.seconds += seconds
        for at, column in enumerate(values):
            total = sum(_known(column))
            if total:
                integral = total / len(column) * seconds
                line.integrals[at] += integral
                cell = line.bins[at]
                cell[bin] = cell.get(bin, 0.0) + integral

    def _add_one(self, line: Line, begin: float, end: float, values: Sequence[float | None]) -> None:
        line.seconds += end - begin
        while begin < end:
            bin = int(begin // self.width)
            until = min(end, (bin + 1) * self.width)
            if until <= begin:  # no number lies between them
                return
            for at, value in enumerate(values):
                if value:
                    line.integrals[at] += value * (until - begin)
                    line.bins[at][bin] = line.bins[at].get(bin, 0.0) + value * (until - begin)
            begin = until


def _begin(row: float, every: float, until: float) -> float:
    """Since when a sample tells. A busy machine takes it late: nobody was away then, and a hole would be a lie. After a
    longer silence (a laptop that slept) it tells of its own time only."""
    return until if until >= row - LATE * every else row - every


def _known(column: Sequence[float | None]) -> Sequence[float]:
    return column if None not in column else [value for value in column if value is not None]  # type: ignore[return-value]


def _coarser(cell: Cell) -> Cell:
    found: Cell = {}
    for bin, integral in cell.items():
        found[bin // 2] = found.get(bin // 2, 0.0) + integral
    return found

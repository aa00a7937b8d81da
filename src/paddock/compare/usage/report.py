"""What a run's processes used, ready to be drawn: one time axis, a line for each process, the checkpoints."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from paddock.compare.usage.grid import Grid
from paddock.compare.usage.metrics import METRICS, Metric
from paddock.compare.usage.reading import Event, Mark, Samples, Who, events

POINTS = 500
NEAR = 0.01  # of the whole time: checkpoints that are closer would be one bar on the page anyway


class Process(NamedTuple):
    who: Who
    label: str
    began: float
    ended: float
    means: dict[str, float]  # by metric, over the time that it was sampled
    peaks: dict[str, float]
    series: dict[str, list[float]]  # the mean of each bin


class Checkpoint(NamedTuple):
    time: float
    text: str
    times: int  # how many processes made it


class Report(NamedTuple):
    title: str
    begin: float  # seconds since 1970
    width: float  # of a bin, in seconds
    processes: tuple[Process, ...]
    checkpoints: tuple[Checkpoint, ...]
    damaged: int

    @property
    def bins(self) -> int:
        return len(next(iter(self.processes[0].series.values()))) if self.processes else 0

    @property
    def seconds(self) -> float:
        return self.bins * self.width

    def has(self, metric: str) -> bool:
        return any(process.peaks.get(metric, 0) > 0 for process in self.processes)

    def total(self, metric: str) -> list[float]:
        return [sum(values) for values in zip(*(p.series[metric] for p in self.processes), strict=True)]


def read(run: Path, title: str = "", points: int = POINTS, metrics: Sequence[Metric] = METRICS) -> Report:
    """Of a run's directory, wherever it is."""
    found = events(run / "journal", {metric.column for metric in metrics})
    return report(found, title or run.name, points, metrics)


def report(found: Iterable[Event], title: str, points: int = POINTS, metrics: Sequence[Metric] = METRICS) -> Report:
    columns = [metric.column for metric in metrics]
    grid, marks, damaged, writer = Grid(columns, points), list[Mark](), 0, ""
    for event in found:
        if isinstance(event, Samples):
            if event.writer != writer:
                writer = event.writer
                grid.next_journal()
            grid.add(event.who, event.times, event.every, [event.columns.get(name, ()) for name in columns])
        elif isinstance(event, Mark):
            marks.append(event)
        else:
            damaged += event.lines
    begin = grid.begin * grid.width if grid.lines else 0.0
    near = max(grid.width, NEAR * (grid.last - grid.first))
    return Report(title, begin, grid.width, _processes(grid, metrics), _joined(marks, near), damaged)


def _processes(grid: Grid, metrics: Sequence[Metric]) -> tuple[Process, ...]:
    keys = [key for key in grid.lines if isinstance(key, Who)]
    # Of an attempt whose processes told of themselves, what the worker saw of them would count them twice.
    told = {who.attempt for who in keys if not who.tree}
    kept = [who for who in keys if not who.tree or who.attempt not in told]
    kept.sort(key=lambda who: (who.attempt, who.role != "main", who.rank or 0, grid.lines[who].first, who.pid))
    labels = _labels(kept)
    return tuple(_process(grid, who, label, metrics) for who, label in zip(kept, labels, strict=True))


def _process(grid: Grid, who: Who, label: str, metrics: Sequence[Metric]) -> Process:
    line, series, means, peaks = grid.lines[who], {}, {}, {}
    for at, metric in enumerate(metrics):
        series[metric.name] = grid.means(who, at)
        peak = line.peaks[at]
        if peak is not None:
            peaks[metric.name], means[metric.name] = peak, line.integrals[at] / max(line.seconds, 1e-9)
    return Process(who, label, line.first, line.last, means, peaks, series)


def _labels(several: list[Who]) -> Iterator[str]:
    hosts, attempts = len({who.host for who in several}) > 1, len({who.attempt for who in several}) > 1
    for who in several:
        name = "all processes" if who.tree else f"rank {who.rank}" if who.rank is not None else who.role
        where = f"{who.host}:{who.pid}" if hosts else str(who.pid)
        text = name if who.tree and not hosts else f"{name} {who.host if who.tree else where}"
        yield f"{text} (attempt {who.attempt})" if attempts else text


def counted(report: Report) -> str:
    """How many processes there are, in words; of a task seen from outside nobody has counted them."""
    count = sum(not process.who.tree for process in report.processes)
    return f"{count:,} process{'es' if count != 1 else ''}" if count else "all processes together"


def _joined(marks: list[Mark], near: float) -> tuple[Checkpoint, ...]:
    """Ranks make the same checkpoints, though not at the same time: the first, second, ... of the same words is one.
    Other processes may say the same of quite different moments (the workers of a pool one after the other, an attempt
    after another): theirs are one only where their bars would lie upon each other."""
    found: list[dict[Who, Mark]] = []
    of_ranks: dict[tuple[int, str, int], dict[Who, Mark]] = {}
    last: dict[str, dict[Who, Mark]] = {}
    counts: dict[tuple[Who, str], int] = {}
    for mark in sorted(marks, key=lambda mark: mark.time):
        who = mark.who
        if who.rank is not None and who.role == "main":
            number = counts[who, mark.text] = counts.get((who, mark.text), 0) + 1
            group = of_ranks.setdefault((who.attempt, mark.text, number), {})
        else:
            group = last.get(mark.text, {})
            if who in group or (group and mark.time - _first(group).time > near):
                group = {}
            last[mark.text] = group
        if not group:
            found.append(group)
        group[who] = mark
    return tuple(sorted(Checkpoint(_first(group).time, _first(group).text, len(group)) for group in found))


def _first(group: dict[Who, Mark]) -> Mark:
    return next(iter(group.values()))


class Layer(NamedTuple):
    """A band of a stacked area."""

    label: str
    values: list[float]
    processes: int


MOST = 12


def layers(report: Report, metrics: Iterable[Metric], most: int = MOST) -> dict[str, list[Layer]]:
    """By metric, the bands from the lowest to the highest: the same processes in each, those that used most of anything
    by themselves, the others as one."""
    names = [metric.name for metric in metrics]
    areas = {name: [sum(process.series[name]) for process in report.processes] for name in names}
    parts = [max(areas[name][at] / (sum(areas[name]) or 1.0) for name in names) for at in range(len(report.processes))]
    room = most if len(report.processes) <= most else most - 1
    largest = sorted(sorted(range(len(parts)), key=lambda at: -parts[at])[:room])
    rest = [process for at, process in enumerate(report.processes) if at not in largest]
    found: dict[str, list[Layer]] = {}
    for name in names:
        bands = [Layer(report.processes[at].label, report.processes[at].series[name], 1) for at in largest]
        if rest:
            others = [sum(values) for values in zip(*(process.series[name] for process in rest), strict=True)]
            bands.append(Layer(f"{len(rest)} others", others, len(rest)))
        found[name] = bands
    return found

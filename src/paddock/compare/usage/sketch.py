"""A stacked area in the characters of a terminal: eighths of a block, two colours to a cell where two bands meet.
Without colours it is the outline of the total. Pure: lines of (text, style)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from paddock.compare.text import clean, cut_to, width
from paddock.compare.usage.axis import elapsed, time_ticks, value_ticks
from paddock.compare.usage.metrics import Metric, shown
from paddock.compare.usage.report import Checkpoint, Layer, Report

Part = tuple[str, str]  # text and a style of rich
Line = list[Part]

COLOURS = (
    *("blue", "yellow", "green", "red", "cyan", "magenta"),
    *("bright_blue", "bright_yellow", "bright_green", "bright_red", "bright_cyan", "bright_magenta"),
)
OTHERS = "bright_black"
_EIGHTHS = " ▁▂▃▄▅▆▇█"
_MARKS = "123456789abcdefghijklmnopqrstuvwxyz"
_LABEL = 10  # columns for the values on the left
_LISTED = 12  # checkpoints


class Frame(NamedTuple):
    columns: int
    rows: int
    colour: bool


def colour_of(at: int, layer: Layer) -> str:
    return OTHERS if layer.processes > 1 else COLOURS[at % len(COLOURS)]


def sketch(report: Report, metric: Metric, bands: Sequence[Layer], frame: Frame) -> list[Line]:
    room = max(frame.columns - _LABEL - 1, 10)
    stacks = [resampled(band.values, room) for band in bands]
    totals = [sum(column) for column in zip(*stacks, strict=True)]
    ticks = value_ticks(max(totals, default=0.0), metric.unit, 2)
    marks = {column for column, _ in placed(report, room)}
    found: list[Line] = [[(heading(report, metric), "bold")]]
    for row in reversed(range(frame.rows)):
        low, up = ticks.top * row / frame.rows, ticks.top * (row + 1) / frame.rows
        near = [value for value in ticks.values[1:] if low < value <= up]
        label = shown(near[-1], metric.unit) if near else ""
        line: Line = [(f"{label:>{_LABEL}}", "dim"), ("┤" if near else "│", "dim")]
        for column in range(room):
            line.append(_cell([stack[column] for stack in stacks], bands, low, up, column in marks, frame.colour))
        found.append(_merged(line))
    return found


def heading(report: Report, metric: Metric) -> str:
    unit = {"cpu": " (100 % is one core)", "gpu": " (100 % is one GPU)"}.get(metric.name, "")
    return f"{metric.title}{unit}, at most {shown(max(report.total(metric.name), default=0.0), metric.unit)}"


def axis(report: Report, frame: Frame) -> list[Line]:
    """The time below, and where the checkpoints are."""
    room = max(frame.columns - _LABEL - 1, 10)
    rule, labels = ["─"] * room, [" "] * room
    ticks = time_ticks(report.seconds, max(2, room // 12))
    step = ticks[1] - ticks[0] if len(ticks) > 1 else 1.0
    for tick in ticks:
        at = min(room - 1, int(tick / max(report.seconds, 1e-9) * room))
        text = elapsed(tick, step)
        at = min(at, room - 1)
        if at + len(text) <= room:
            rule[at] = "┴"
            labels[at : at + len(text)] = text
    found: list[Line] = [
        [(" " * _LABEL + "└" + "".join(rule), "dim")],
        [(" " * (_LABEL + 1) + "".join(labels).rstrip(), "dim")],
    ]
    marks = [" "] * room
    for column, number in reversed(placed(report, room)):
        marks[column] = _MARKS[number] if number < len(_MARKS) else "·"
    if report.checkpoints:
        found.append([(" " * (_LABEL + 1) + "".join(marks).rstrip(), "")])
    return found


def checkpoints(report: Report, frame: Frame) -> list[Line]:
    """What the numbers below the axis mean: the first ones, and how many more there are."""
    found: list[Line] = []
    several = report.checkpoints
    for number, mark in enumerate(several[:_LISTED]):
        at = elapsed(max(0.0, mark.time - report.begin), 1.0)
        text = f"{_MARKS[number]}  {at:>8}  {clean(said(mark))}"
        found.append([(cut_to(text, frame.columns) if frame.colour else text, "")])
    if len(several) > _LISTED:
        found.append([(f"… and {len(several) - _LISTED} more; --json has them all", "dim")])
    return found


def said(mark: Checkpoint) -> str:
    return f"{mark.text} ({mark.times} times)" if mark.times > 1 else mark.text


def spark(values: Sequence[float], columns: int) -> str:
    """One process in a line: how it went, relative to its own most."""
    found = resampled(values, columns)
    most = max(found, default=0.0)
    if not most > 0:
        return " " * len(found)
    return "".join(_EIGHTHS[max(1, round(8 * value / most)) if value > 0 else 0] for value in found)


def resampled(values: Sequence[float], columns: int) -> list[float]:
    """The mean of what falls into each column; with fewer values than columns, the one that is there."""
    count = len(values)
    found = []
    for column in range(columns):
        low, high = column * count // columns, max((column + 1) * count // columns, column * count // columns + 1)
        part = values[low:high]
        found.append(sum(part) / len(part) if part else 0.0)
    return found


def placed(report: Report, room: int) -> list[tuple[int, int]]:
    """(column, number) of each checkpoint."""
    seconds = max(report.seconds, 1e-9)
    places = [(mark.time - report.begin) / seconds * room for mark in report.checkpoints]
    return [(min(room - 1, max(0, int(place))), number) for number, place in enumerate(places)]


def _cell(values: list[float], bands: Sequence[Layer], low: float, up: float, mark: bool, colour: bool) -> Part:
    """The two bands that have most of the cell, the lower one drawn up to where it ends."""
    parts, base = [], 0.0
    for at, value in enumerate(values):
        inside = min(base + value, up) - max(base, low)
        if inside > 0:
            parts.append((inside, at))
        base += value
    filled = sum(part for part, _ in parts) / (up - low)
    eighths = round(8 * filled)
    if not parts or (not eighths and low > 0):
        return ("│", "dim") if mark else (" ", "")
    if not colour:
        return _EIGHTHS[max(1, eighths)], ""
    several = sorted(sorted(parts, reverse=True)[:2], key=lambda part: part[1])
    lower = several[0][1]
    style = colour_of(lower, bands[lower])
    if len(several) == 1 or eighths < 8:
        most = max(several)[1]
        return _EIGHTHS[max(1, eighths)], colour_of(most, bands[most])
    border = round(8 * several[0][0] / (several[0][0] + several[1][0]))
    upper = several[1][1]
    return _EIGHTHS[min(8, max(0, border))], f"{style} on {colour_of(upper, bands[upper])}"


def _merged(line: Line) -> Line:
    """Neighbours of one style as one part."""
    found: Line = []
    for text, style in line:
        if found and found[-1][1] == style:
            found[-1] = found[-1][0] + text, style
        else:
            found.append((text, style))
    return found


def legend(bands: Sequence[Layer], columns: int) -> list[Line]:
    """Which colour is whose, as many in a line as fit."""
    found: list[Line] = [[]]
    used = 0
    for at, band in enumerate(bands):
        text = f" {band.label}  "
        if used and used + 1 + width(text) > columns:
            found.append([])
            used = 0
        found[-1] += [("█", colour_of(at, band)), (text, "")]
        used += 1 + width(text)
    return found

"""Stacked areas as SVG, without any other package: text in, text out. Foreign text is escaped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from paddock.compare.text import clean, cut_to, moment, span
from paddock.compare.usage.axis import apart, elapsed, time_ticks, value_ticks
from paddock.compare.usage.metrics import Metric, shown
from paddock.compare.usage.report import Layer, Report, counted
from paddock.compare.usage.sketch import heading, said

COLOURS = (
    *("#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#76b7b2", "#edc948"),
    *("#b07aa1", "#ff9da7", "#9c755f", "#a0cbe8", "#8cd17d", "#d37295"),
)
OTHERS = "#bab0ac"
WIDTH, PANEL, GAP = 960, 190, 34
LEFT, RIGHT, TOP, LABELS = 78, 20, 56, 96  # LABELS: room above the first panel for what the checkpoints say
_LETTERS = 16  # of a checkpoint's words, written along its bar
_INK, _PALE, _MARK = "#222222", "#dddddd", "#555555"


def colour_of(at: int, layer: Layer) -> str:
    return OTHERS if layer.processes > 1 else COLOURS[at % len(COLOURS)]


def svg(report: Report, metrics: Sequence[Metric], bands: Mapping[str, Sequence[Layer]]) -> str:
    several = next(iter(bands.values()))
    columns = 4
    rows = -(-len(several) // columns)
    top = TOP + (LABELS if report.checkpoints else 8)
    bottom = top + len(metrics) * (PANEL + GAP)
    height = bottom + 26 + 18 * rows + 10
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
        ' font-family="system-ui, sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
        _text(LEFT, 24, report.title, size=16, weight="600"),
        _text(LEFT, 43, subtitle(report), fill=_MARK),
    ]
    for number, metric in enumerate(metrics):
        y = top + number * (PANEL + GAP)
        parts += _panel(report, metric, bands[metric.name], y)
    parts += _marks(report, top, bottom - GAP)
    for number, metric in enumerate(metrics):  # above the bars
        y = top + number * (PANEL + GAP) - 6
        parts.append(_text(LEFT + 4, y, heading(report, metric), weight="600", halo=True))
    parts += _times(report, bottom - GAP)
    for at, band in enumerate(several):
        x, y = LEFT + at % columns * (WIDTH - LEFT - RIGHT) / columns, bottom + 22 + 18 * (at // columns)
        parts.append(f'<rect x="{x:.0f}" y="{y - 10:.0f}" width="12" height="12" fill="{colour_of(at, band)}"/>')
        parts.append(_text(x + 18, y, cut_to(clean(band.label), 30)))
    return "\n".join([*parts, "</svg>"]) + "\n"


def subtitle(report: Report) -> str:
    return f"{counted(report)}, {span(report.seconds)} from {moment(report.begin)}, means of {span(report.width)}"


def _panel(report: Report, metric: Metric, bands: Sequence[Layer], top: float) -> list[str]:
    ticks = value_ticks(max(report.total(metric.name), default=0.0), metric.unit)
    floor = top + PANEL
    found: list[str] = []
    for value in ticks.values:
        y = floor - value / ticks.top * PANEL
        found.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="{_PALE}"/>')
        found.append(_text(LEFT - 8, y + 4, shown(value, metric.unit), anchor="end", fill=_MARK, size=11))
    base = [0.0] * report.bins
    for at, band in enumerate(bands):
        upper = [low + value for low, value in zip(base, band.values, strict=True)]
        if any(band.values):
            points = _outline(report.bins, base, upper, ticks.top, floor)
            label = escape(clean(band.label))
            found.append(f'<path d="{points}" fill="{colour_of(at, band)}"><title>{label}</title></path>')
        base = upper
    return found


def _outline(bins: int, lower: Sequence[float], upper: Sequence[float], top: float, floor: float) -> str:
    """Steps, as the bins are: there and back."""
    scale = (WIDTH - LEFT - RIGHT) / max(bins, 1)
    there = [(LEFT + (at + side) * scale, upper[at]) for at in range(bins) for side in (0, 1)]
    back = [(LEFT + (at + side) * scale, lower[at]) for at in reversed(range(bins)) for side in (1, 0)]
    found: list[str] = []
    last = ""
    for x, value in [*there, *back]:
        point = f"{x:.1f},{floor - value / top * PANEL:.1f}"
        if point != last:
            found.append(point)
        last = point
    return f"M{'L'.join(found)}Z"


def _marks(report: Report, top: float, floor: float) -> list[str]:
    places = [_x(report, mark.time - report.begin) for mark in report.checkpoints]
    found = []
    for mark, x, labelled in zip(report.checkpoints, places, apart(places, 13), strict=True):
        at = elapsed(max(0.0, mark.time - report.begin))
        title = f"<title>{escape(clean(said(mark)))}, {at}</title>"
        reach = 18 if labelled else 0
        found.append(
            f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{top - reach:.0f}" y2="{floor:.0f}" stroke="{_MARK}"'
            f' stroke-width="{1 if labelled else 0.5}" stroke-dasharray="3 2">{title}</line>'
        )
        if labelled:
            text = escape(cut_to(clean(said(mark)), _LETTERS))
            found.append(
                f'<text x="{x + 4:.1f}" y="{top - 20:.0f}" transform="rotate(-60 {x + 4:.1f} {top - 20:.0f})"'
                f' font-size="11" fill="{_INK}">{text}{title}</text>'
            )
    return found


def _times(report: Report, floor: float) -> list[str]:
    ticks = time_ticks(report.seconds)
    step = ticks[1] - ticks[0] if len(ticks) > 1 else 1.0
    found = []
    for tick in ticks:
        x = _x(report, tick)
        found.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{floor:.0f}" y2="{floor + 5:.0f}" stroke="{_INK}"/>')
        found.append(_text(x, floor + 18, elapsed(tick, step), anchor="middle", fill=_MARK, size=11))
    found.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{floor:.0f}" y2="{floor:.0f}" stroke="{_INK}"/>')
    return found


def _x(report: Report, seconds: float) -> float:
    part = min(1.0, max(0.0, seconds / max(report.seconds, 1e-9)))
    return LEFT + part * (WIDTH - LEFT - RIGHT)


def _text(
    x: float,
    y: float,
    text: str,
    *,
    size: int = 12,
    weight: str = "",
    anchor: str = "",
    fill: str = _INK,
    halo: bool = False,
) -> str:
    more = (f' font-weight="{weight}"' if weight else "") + (f' text-anchor="{anchor}"' if anchor else "")
    more += ' paint-order="stroke" stroke="#ffffff" stroke-width="4"' if halo else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{fill}"{more}>{escape(clean(text))}</text>'

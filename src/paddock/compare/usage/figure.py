"""The same picture through matplotlib, for PNG and PDF: `paddock[figures]`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from paddock.compare.text import clean, cut_to
from paddock.compare.usage.axis import apart, elapsed, time_ticks, value_ticks
from paddock.compare.usage.metrics import Metric, shown
from paddock.compare.usage.report import Layer, Report
from paddock.compare.usage.sketch import said
from paddock.compare.usage.svg import colour_of, subtitle
from paddock.errors import MissingExtra

_WIDE, _HIGH = 9.6, 2.2  # inches of the figure, and of each panel
_CLOSE = 0.014  # of the width: checkpoints nearer than that get no words


def save(
    report: Report, metrics: Sequence[Metric], bands: Mapping[str, Sequence[Layer]], path: Path, kind: str
) -> None:
    if find_spec("matplotlib") is None:
        raise MissingExtra(f"A figure as {kind.upper()}", "figures")
    from matplotlib import rc_context
    from matplotlib.figure import Figure  # not pyplot: no window, and no state of somebody's notebook

    with rc_context({"text.parse_math": False, "font.size": 9}):
        figure = Figure(figsize=(_WIDE, 1.9 + _HIGH * len(metrics)), layout="constrained")
        axes = figure.subplots(len(metrics), 1, sharex=True, squeeze=False)[:, 0]
        figure.suptitle(f"{clean(report.title)}\n{subtitle(report)}", fontsize=10)
        for ax, metric in zip(axes, metrics, strict=True):
            _draw(ax, report, metric, bands[metric.name])
        _label(axes[0], report)
        several = next(iter(bands.values()))
        handles = [_patch(colour_of(at, band), cut_to(clean(band.label), 30)) for at, band in enumerate(several)]
        figure.legend(handles=handles, loc="outside lower center", ncols=4, frameon=False)
        figure.savefig(path, format=kind, dpi=150)


def _draw(ax: Any, report: Report, metric: Metric, bands: Sequence[Layer]) -> None:
    edges = [at * report.width for at in range(report.bins + 1)]
    base = [0.0] * report.bins
    for at, band in enumerate(bands):
        upper = [low + value for low, value in zip(base, band.values, strict=True)]
        ax.stairs(upper, edges, baseline=base, fill=True, color=colour_of(at, band), linewidth=0)
        base = upper
    ticks = value_ticks(max(base, default=0.0), metric.unit)
    ax.set_ylim(0, ticks.top)
    ax.set_yticks(ticks.values, [shown(value, metric.unit) for value in ticks.values])
    ax.set_ylabel(metric.title)
    ax.set_axisbelow(True)
    ax.grid(axis="y", color="#dddddd", linewidth=0.6)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    times = time_ticks(report.seconds)
    step = times[1] - times[0] if len(times) > 1 else 1.0
    ax.set_xlim(0, report.seconds)
    ax.set_xticks(times, [elapsed(tick, step) for tick in times])
    for mark in report.checkpoints:
        ax.axvline(mark.time - report.begin, color="#555555", linewidth=0.7, linestyle=(0, (3, 2)))


def _label(ax: Any, report: Report) -> None:
    """The words of the checkpoints, along their bars, above the first panel."""
    places = [(mark.time - report.begin) / max(report.seconds, 1e-9) for mark in report.checkpoints]
    for mark, place, labelled in zip(report.checkpoints, places, apart(places, _CLOSE), strict=True):
        if labelled:
            text = cut_to(clean(said(mark)), 16)
            ax.annotate(
                text,
                (place, 1.0),
                xycoords="axes fraction",
                xytext=(2, 3),
                textcoords="offset points",
                rotation=60,
                ha="left",
                va="bottom",
                fontsize=8,
            )


def _patch(colour: str, label: str) -> Any:
    from matplotlib.patches import Patch

    return Patch(color=colour, label=label)

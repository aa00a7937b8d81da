"""A report as one HTML file that needs nothing else, and an index of several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import NamedTuple

from paddock.compare.text import clean, html_table, many, moment, span
from paddock.compare.usage.axis import elapsed
from paddock.compare.usage.metrics import Metric, shown
from paddock.compare.usage.report import Layer, Report
from paddock.compare.usage.sketch import said
from paddock.compare.usage.svg import svg

_STYLE = """
body { font: 14px system-ui, sans-serif; color: #222; margin: 24px auto; max-width: 1000px; padding: 0 16px; }
svg { max-width: 100%; height: auto; } h1 { font-size: 20px; } h2 { font-size: 15px; margin-top: 28px; }
table { border-collapse: collapse; } th, td { padding: 3px 14px 3px 0; border-bottom: 1px solid #e4e4e4; }
td { font-variant-numeric: tabular-nums; } a { color: #2b5d8c; }
.index th { text-align: left; } .index :is(th, td):nth-child(n + 3) { text-align: right; }
"""


def page(report: Report, metrics: Sequence[Metric], bands: Mapping[str, Sequence[Layer]]) -> str:
    parts = [svg(report, metrics, bands), "<h2>Processes</h2>", _processes(report, metrics)]
    if report.checkpoints:
        rows = [
            [elapsed(max(0.0, mark.time - report.begin)), moment(mark.time), clean(said(mark))]
            for mark in report.checkpoints
        ]
        parts += ["<h2>Checkpoints</h2>", html_table(["after", "time", "checkpoint"], rows, [True, False, False])]
    return _document(f"Usage of {report.title}", "\n".join(parts))


class Listed(NamedTuple):
    """A line of the index."""

    file: str
    report: Report


def index(listed: Sequence[Listed], metrics: Sequence[Metric]) -> str:
    heads = ["run", "began", "took", "processes", "checkpoints", *(f"most {metric.title}" for metric in metrics)]
    rows = []
    for file, report in listed:
        most = [shown(max(report.total(metric.name), default=0.0), metric.unit) for metric in metrics]
        facts = [moment(report.begin), span(report.seconds), str(len(report.processes)), str(len(report.checkpoints))]
        link = f'<a href="{escape(file)}">{escape(clean(report.title))}</a>'
        rows.append(f"<tr><td>{link}</td>{''.join(f'<td>{escape(text)}</td>' for text in [*facts, *most])}</tr>")
    head = "".join(f"<th>{escape(text)}</th>" for text in heads)
    table = f"<table class='index'><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    return _document("Usage of runs", f"<h1>Usage of {many(len(listed), 'run')}</h1>{table}")


def _processes(report: Report, metrics: Sequence[Metric]) -> str:
    heads = ["process", "host", "pid", "began", "took"]
    heads += [f"{word} {metric.title}" for metric in metrics for word in ("mean", "most")]
    rows = [
        [
            clean(process.label),
            clean(process.who.host),
            str(process.who.pid),
            elapsed(max(0.0, process.began - report.begin)),
            span(process.ended - process.began),
            *(
                shown(values[metric.name], metric.unit) if metric.name in values else ""
                for metric in metrics
                for values in (process.means, process.peaks)
            ),
        ]
        for process in report.processes
    ]
    return html_table(heads, rows, [False, False, *[True] * (len(heads) - 2)])


def _document(title: str, body: str) -> str:
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width">\n'
        f"<title>{escape(clean(title))}</title><style>{_STYLE}</style></head>\n<body>\n{body}\n</body></html>\n"
    )

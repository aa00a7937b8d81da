"""paddock usage: what the processes of a run used over time, with the checkpoints of the script."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from paddock.catalog.card import read_facts
from paddock.cli.choose import named_or_queried
from paddock.cli.command import Session, verb
from paddock.cli.output import Cell
from paddock.cli.usage_files import ENDINGS, write_index, write_report
from paddock.compare.text import many, moment, span, width
from paddock.compare.usage.metrics import NAMES, Metric, chosen, possible, shown
from paddock.compare.usage.report import POINTS, Process, Report, counted, layers, read
from paddock.compare.usage.sketch import Frame, axis, checkpoints, legend, sketch, spark
from paddock.errors import NotFound, UsageError

_HIGH, _NARROW, _SPARK = 8, 80, 24  # rows of a sketch, columns of a pipe, columns of a process's own line at most
_MOST_SEEN = 24  # processes in the table
_HELP = """What the processes of a run used: stacked areas, with the checkpoints of the script as vertical bars.

\b
  paddock usage RUN                          a sketch on the terminal
  paddock usage RUN --out usage.svg          also .html, .csv, and with paddock[figures] .png and .pdf
  paddock usage copied/directory             a run's directory, wherever it is
  paddock usage --all --out reports/         a page for every run that has any, and an index

Usage is sampled when PADDOCK_USAGE=1, `paddock run --usage` or paddock.init(usage=True) says so, and written from the
first Usage.checkpoint() on. Of a task, its worker writes down what all of its processes use together.
"""


@verb("usage", help=_HELP)
@click.argument("words", nargs=-1, metavar="RUN | DIRECTORY")
@click.option("-o", "--out", type=click.Path(path_type=Path), help=f"The file to write: {', '.join(ENDINGS)}.")
@click.option("-m", "--metric", "metrics", multiple=True, metavar="NAME", help=f"{', '.join(NAMES)}; repeatable.")
@click.option("--points", type=click.IntRange(2, 100_000), default=POINTS, show_default=True, help="Bins of the time.")
@click.option("--all", "every", is_flag=True, help="Pages and an index of all runs, or those of a QUERY, into --out.")
def usage(
    session: Session, words: tuple[str, ...], out: Path | None, metrics: tuple[str, ...], points: int, every: bool
) -> None:
    wanted = possible(metrics)  # a misspelt name is told before anything is read
    if every:
        _write_all(session, words, out, metrics, points)
        return
    if len(words) != 1:
        raise UsageError("Name one run, or its directory.", hint="`paddock ls` lists the runs; --all takes them all.")
    directory, title = _directory(session, words[0])
    report = read(directory, title, points, wanted)
    if not report.processes:
        raise NotFound(
            f"There is no usage of {title}.",
            hint="`paddock run --usage`, PADDOCK_USAGE=1 or init(usage=True) samples it, from Usage.checkpoint() on.",
        )
    drawn = chosen(metrics, report.has)
    if out is not None:
        write_report(report, drawn, directory, out)
        session.out.json({"path": str(out), "processes": len(report.processes)})
        session.out.bare(str(out))
        session.out.line(f"{out}: {_told(report)}")
        return
    session.out.json(_as_json(report, drawn))
    for process in report.processes:
        session.out.bare(process.label)
    if session.out.human:
        _print(session, report, drawn)


def _directory(session: Session, word: str) -> tuple[Path, str]:
    """A run's directory, and what to call it."""
    path = Path(word)
    if (path / "journal").is_dir():
        facts, _ = read_facts(f"{path}/run.json")
        run_id = str(facts.get("id") or path.resolve().name)
        return path, f"{facts['name']} ({run_id})" if facts.get("name") else run_id
    if os.sep in word and path.exists():
        raise NotFound(f"{word} is not the directory of a run.", hint="It would have a directory `journal` in it.")
    with session.catalog() as catalog:
        row = catalog.run(word)
    return session.home.run(row.id).path, f"{row.name} ({row.id})"


def _write_all(
    session: Session, words: tuple[str, ...], out: Path | None, metrics: tuple[str, ...], points: int
) -> None:
    if out is None:
        raise UsageError("--all needs a directory to write to.", hint="Name it with --out DIRECTORY.")
    with session.catalog() as catalog:
        rows = named_or_queried(catalog, words) if words else catalog.runs()
    runs = [(row.id, session.home.run(row.id).path, f"{row.name} ({row.id})") for row in rows]
    written = write_index(runs, metrics, out, points)
    session.out.json({"path": str(out / "index.html"), "runs": written})
    session.out.bare(str(out / "index.html"))
    session.out.line(f"{out / 'index.html'}: {many(len(written), 'run')} with usage, of {len(runs)}")


def _told(report: Report) -> str:
    marks = many(len(report.checkpoints), "checkpoint")
    return f"{counted(report)}, {span(report.seconds)}, {marks}"


def _print(session: Session, report: Report, drawn: Sequence[Metric]) -> None:
    out = session.out
    frame = Frame(min(out.width, 160) if out.terminal else _NARROW, _HIGH, out.terminal)
    bands = layers(report, drawn)
    out.line(report.title, "bold")
    out.line(f"{_told(report)}, from {moment(report.begin)}")
    for metric in drawn:
        out.line()
        for line in sketch(report, metric, bands[metric.name], frame):
            out.parts(line)
        for line in axis(report, frame):
            out.parts(line)
    if frame.colour and len(report.processes) > 1:
        out.line()
        for line in legend(next(iter(bands.values())), frame.columns):
            out.parts(line)
    if report.checkpoints:
        out.heading("checkpoints")
        for line in checkpoints(report, frame):
            out.parts(line)
    out.heading("processes")
    _table(session, report, drawn, frame.columns)
    if report.damaged:
        out.note(f"{many(report.damaged, 'record')} of usage could not be read.")


def _table(session: Session, report: Report, drawn: Sequence[Metric], columns: int) -> None:
    """The mean and the most of each process, and how the first metric went in the room that is left. Where there is
    none, the mean of what is a rate and the most of what is a size are told."""
    first = drawn[0]
    ordered = sorted(report.processes, key=lambda process: -process.means.get(first.name, 0.0))
    told = [(metric, word) for metric in drawn for word in ("mean", "most")]
    heads, texts = _cells(ordered[:_MOST_SEEN], told)
    room = columns - _wide(heads, texts)
    if room < 0:
        heads, texts = _cells(ordered[:_MOST_SEEN], [(m, "most" if m.unit == "B" else "mean") for m in drawn])
        room = columns - _wide(heads, texts)
    rows: list[list[Cell]] = [[*row] for row in texts]
    right = [False, *[True] * (len(heads) - 1)]
    if room >= len(first.title):
        heads, right = [*heads, first.title], [*right, False]
        for row, process in zip(rows, ordered, strict=False):
            row.append((spark(process.series[first.name], min(room, _SPARK)), "dim"))
    session.out.table(heads, rows, right)
    if len(ordered) > _MOST_SEEN:
        session.out.line(f"… and {len(ordered) - _MOST_SEEN} more; --json has them all")


def _cells(processes: Sequence[Process], told: Sequence[tuple[Metric, str]]) -> tuple[list[str], list[list[str]]]:
    rows = [
        [
            process.label,
            *(
                shown(found[metric.name], metric.unit) if metric.name in found else ""
                for metric, word in told
                for found in [process.means if word == "mean" else process.peaks]
            ),
        ]
        for process in processes
    ]
    return ["process", *(f"{word} {metric.title}" for metric, word in told)], rows


def _wide(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> int:
    return sum(2 + max(map(width, column)) for column in zip(heads, *rows, strict=True))


def _as_json(report: Report, drawn: Sequence[Metric]) -> dict[str, Any]:
    return {
        "title": report.title,
        "begin": report.begin,
        "width": report.width,
        "bins": report.bins,
        "damaged": report.damaged,
        "checkpoints": [mark._asdict() for mark in report.checkpoints],
        "processes": [
            {
                "label": process.label,
                **process.who._asdict(),
                "began": process.began,
                "ended": process.ended,
                "mean": process.means,
                "most": process.peaks,
                "series": {metric.name: process.series[metric.name] for metric in drawn},
            }
            for process in report.processes
        ],
    }

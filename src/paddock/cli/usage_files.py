"""The files that `paddock usage --out` writes: whole, or not there."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from paddock.compare.points import whole_file
from paddock.compare.usage.figure import save
from paddock.compare.usage.metrics import METRICS, Metric, chosen, possible
from paddock.compare.usage.page import Listed, index, page
from paddock.compare.usage.reading import Samples, events
from paddock.compare.usage.report import Report, layers, read
from paddock.compare.usage.svg import svg
from paddock.errors import UsageError

ENDINGS = (".svg", ".html", ".png", ".pdf", ".csv")


def write_report(report: Report, metrics: Sequence[Metric], run: Path, out: Path) -> None:
    kind = out.suffix.lower()
    if kind not in ENDINGS:
        raise UsageError(f"The ending of {out} names no format.", hint=f"It is one of {', '.join(ENDINGS)}.")
    with whole_file(out) as aside:
        if kind == ".csv":
            _write_samples(run, aside)
        elif kind in (".png", ".pdf"):
            save(report, metrics, layers(report, metrics), aside, kind[1:])
        else:
            draw = svg if kind == ".svg" else page
            aside.write_text(draw(report, metrics, layers(report, metrics)), "utf-8", "backslashreplace")


def write_index(runs: Sequence[tuple[str, Path, str]], metrics: Sequence[str], out: Path, points: int) -> list[str]:
    """A page for each run (id, directory, title) that has usage, and the index; returns the ids of those runs."""
    if out.exists() and not out.is_dir():
        raise UsageError(f"{out} is a file.", hint="--all writes a directory.")
    out.mkdir(parents=True, exist_ok=True)
    listed, written = list[Listed](), list[str]()
    for run_id, path, title in runs:
        report = read(path, title, points, possible(metrics))
        if report.processes:
            write_report(report, chosen(metrics, report.has), path, out / f"{run_id}.html")
            listed.append(Listed(f"{run_id}.html", report))
            written.append(run_id)
    shown = chosen(metrics, lambda name: any(one.report.has(name) for one in listed))
    with whole_file(out / "index.html") as aside:
        aside.write_text(index(listed, shown), "utf-8", "backslashreplace")
    return written


def _write_samples(run: Path, path: Path) -> None:
    """Every sample as it was taken, of every process."""
    columns = [*(metric.column for metric in METRICS), "processes"]
    names = [*(metric.name for metric in METRICS), "processes"]
    with open(path, "w", encoding="utf-8", newline="", errors="backslashreplace") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["time", "every", "host", "pid", "role", "rank", "attempt", *names])
        for event in events(run / "journal"):
            if isinstance(event, Samples):
                who = event.who
                role = "all processes" if who.tree else who.role
                head = [event.every, who.host, who.pid, role, "" if who.rank is None else who.rank, who.attempt]
                empty: list[Any] = [None] * len(event.times)
                values = zip(*(event.columns.get(name, empty) for name in columns), strict=True)
                for at, row in zip(event.times, values, strict=True):
                    writer.writerow([f"{at:.3f}", *head, *("" if value is None else value for value in row)])

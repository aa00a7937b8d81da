"""paddock export: points and runs for other programs."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from paddock import wire
from paddock.catalog.metrics import label, tags_text
from paddock.cli.choose import named_or_queried
from paddock.cli.command import Session, verb
from paddock.cli.output import json_value
from paddock.cli.shape import run_json
from paddock.compare.points import FORMATS, whole_file, write_frame, write_points, write_text
from paddock.compare.select import text_of
from paddock.compare.table import RunTable
from paddock.compare.text import many, size
from paddock.compare.view import check_metric
from paddock.errors import UsageError
from paddock.model import RunRow

if TYPE_CHECKING:
    from paddock.catalog.catalog import Catalog
    from paddock.catalog.series import Batch

_HELP = """Write every point of the runs as one long table: run, name, metric, step, time, value, rank, attempt, tags.

\b
  paddock export project=mnist -o points.parquet
  paddock export RUN --metric loss -o loss.csv
  paddock export --runs-only -o runs.jsonl

The format follows the file's ending unless --format names it. Without -o, CSV and JSON lines go to stdout.
--runs-only writes one row a run: its fields, config, and the last and best value of each metric.
"""


@verb("export", help=_HELP)
@click.argument("words", nargs=-1, metavar="[QUERY | RUN...]")
@click.option("-f", "--format", "format", type=click.Choice(FORMATS), help="parquet, csv or jsonl.")
@click.option("-o", "--output", "path", type=click.Path(path_type=Path), help="The file to write.")
@click.option("-m", "--metric", "metrics", multiple=True, help="Only this metric; repeatable.")
@click.option("--runs-only", is_flag=True, help="One row a run, no points.")
def export(
    session: Session,
    words: tuple[str, ...],
    format: str | None,
    path: Path | None,
    metrics: tuple[str, ...],
    runs_only: bool,
) -> None:
    kind = format or _from_ending(path)
    if path is None and (kind == "parquet" or not session.out.human):
        raise UsageError("A file is needed for this.", hint="Name it with -o PATH.")
    with session.catalog() as catalog:
        runs = named_or_queried(catalog, words) if words else catalog.runs()
        for metric in metrics if runs else ():
            check_metric(metric, runs)
        if runs_only:
            count = _write_runs(session, runs, kind, path)
        else:
            names = {run.id: run.name for run in runs}
            batches = _batches(catalog, list(names), metrics)
            if path is not None:
                count = write_points(path, kind, batches, names)
            else:
                count = write_text(sys.stdout.buffer, kind, batches, names)
    _report(session, path, kind, len(runs), None if runs_only else count)


def _from_ending(path: Path | None) -> str:
    ending = path.suffix.lower().removeprefix(".") if path is not None else "csv"
    ending = {"ndjson": "jsonl", "pq": "parquet"}.get(ending, ending)
    if ending not in FORMATS:
        raise UsageError(f"The ending of {path} names no format.", hint=f"Add --format {'|'.join(FORMATS)}.")
    return ending


def _batches(catalog: Catalog, ids: list[str], metrics: tuple[str, ...]) -> Iterator[Batch]:
    if not metrics:
        yield from catalog.points(ids)
    for metric in dict.fromkeys(metrics):
        base = metric.partition("{")[0] if metric.endswith("}") else metric
        for batch in catalog.points(ids, base):
            if base == metric or label(base, tags_text(batch.tags)) == metric:
                yield batch


def _write_runs(session: Session, runs: list[RunRow], kind: str, path: Path | None) -> int:
    if kind == "parquet":
        assert path is not None
        table = RunTable(runs, session.source)
        write_frame(path, {name: table.column(name) for name in table.columns})
        return len(runs)
    data = _runs_text(RunTable(runs, session.source), kind)
    if path is None:
        session.out.raw(data)
        return len(runs)
    with whole_file(path) as aside:
        aside.write_bytes(data.encode("utf-8", "backslashreplace"))
    return len(runs)


def _runs_text(table: RunTable, kind: str) -> str:
    if kind == "jsonl":
        return "".join(wire.dumps(json_value(run_json(row))).decode() + "\n" for row in table.rows)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table.columns)
    for row in table.dicts():
        writer.writerow("" if value is None else text_of(value) for value in row.values())
    return text.getvalue()


def _report(session: Session, path: Path | None, kind: str, runs: int, points: int | None) -> None:
    if path is None:
        return
    written = path.stat().st_size
    found = {"path": str(path), "format": kind, "runs": runs, "bytes": written}
    session.out.json(found if points is None else {**found, "points": points})
    session.out.bare(str(path))
    what = many(runs, "run") if points is None else f"{many(points, 'point')} of {many(runs, 'run')}"
    session.out.line(f"{path}: {what}, {size(written)}")

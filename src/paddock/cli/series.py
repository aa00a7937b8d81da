"""paddock series: metrics over their steps."""

from __future__ import annotations

import csv
import sys
from typing import TYPE_CHECKING, Any

import click

from paddock import wire
from paddock.cli.command import Session, verb
from paddock.compare.align import align
from paddock.compare.text import number
from paddock.compare.view import check_metric, resolve
from paddock.errors import MetricNotFound, UsageError
from paddock.model import RunRow, Series

if TYPE_CHECKING:
    from paddock.catalog.catalog import Catalog


@verb("series", help="One or more metrics of a run over their steps, the last written value of each.")
@click.argument("run")
@click.argument("metrics", nargs=-1, required=True, metavar="METRIC...")
@click.option("--rank", type=int, help="Only what this rank logged [the lowest that logged it].")
@click.option("--tags", multiple=True, metavar="KEY=VALUE", help="Only points with this tag; repeatable.")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV.")
def series(
    session: Session, run: str, metrics: tuple[str, ...], rank: int | None, tags: tuple[str, ...], as_csv: bool
) -> None:
    wanted = dict(_tag(item) for item in tags) or None
    with session.catalog() as catalog:
        row = catalog.run(run)
        found = {metric: _fetch(catalog, row, metric, rank, wanted) for metric in dict.fromkeys(metrics)}
    session.out.json(
        {
            "run": row.id,
            "series": [
                {"metric": name, "tags": one.tags, "steps": one.steps, "values": one.values, "times": one.times}
                for name, one in found.items()
            ],
        }
    )
    _print(session, found, as_csv)


def _fetch(catalog: Catalog, row: RunRow, metric: str, rank: int | None, tags: dict[str, Any] | None) -> Series:
    check_metric(metric, [row])
    name, chosen = resolve(catalog, [row], metric, tags)
    found = catalog.series([row.id], name, rank=rank, tags=chosen)
    if row.id not in found:
        known = [str(one) for one in catalog.metric_tags(row.id, metric) if one]
        hint = f"Its tags: {', '.join(known[:10])}." if known else "Leave --rank and --tags away."
        raise MetricNotFound(f"Run {row.id} has no points of {metric!r} with this rank and these tags.", hint=hint)
    return found[row.id]


def _tag(item: str) -> tuple[str, Any]:
    key, sign, text = item.partition("=")
    if not sign or not key:
        raise UsageError(f"{item!r} is no tag.", hint="Write --tags KEY=VALUE.")
    try:
        return key, wire.loads(text.encode())
    except wire.DecodeError:
        return key, text


def _print(session: Session, found: dict[str, Series], as_csv: bool) -> None:
    out = session.out
    if not out.human:
        for one in found.values():
            for step, value in zip(one.steps, one.values, strict=True):
                out.bare(f"{step}\t{value!r}")
        return
    if as_csv:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(["step", *found])
        writer.writerows(_rows(found, repr))
        return
    out.table(["step", *found], _rows(found, number), [True] * (len(found) + 1))


def _rows(found: dict[str, Series], shown: Any) -> list[list[str]]:
    """One row a step, an empty cell where a metric has no point (a NaN that was logged is shown as nan)."""
    grid = align(found).steps
    columns = [dict(zip(one.steps, one.values, strict=True)) for one in found.values()]
    return [[str(step), *(shown(column[step]) if step in column else "" for column in columns)] for step in grid]

"""paddock series: metrics over their steps."""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable
from itertools import islice
from typing import TYPE_CHECKING, Any

import click

from paddock.cli.command import Session, verb
from paddock.cli.output import Output
from paddock.compare.select import text_of
from paddock.compare.text import clean, number, width
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
    wanted = dict(_tag(item) for item in tags)
    with session.catalog() as catalog:
        row = catalog.run(run)
        found = {metric: _fetch(catalog, row, metric, rank, wanted) for metric in _with_axes(row, metrics)}
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


def _with_axes(row: RunRow, metrics: tuple[str, ...]) -> list[str]:
    """A metric that was defined over another (an epoch, samples seen) is shown beside that one."""
    axes = [axis for name in metrics if (axis := row.axes.get(name)) and axis in row.metrics]
    return list(dict.fromkeys([*axes, *metrics]))


def _fetch(catalog: Catalog, row: RunRow, metric: str, rank: int | None, tags: dict[str, str]) -> Series:
    check_metric(metric, [row])
    name, chosen = resolve(catalog, [row], metric, _tag_set(catalog, row, metric, tags) if tags else None)
    found = catalog.series([row.id], name, rank=rank, tags=chosen)
    if row.id not in found:
        raise MetricNotFound(f"Rank {rank} of run {row.id} has no points of {metric!r}.", hint="Leave --rank away.")
    return found[row.id]


def _tag_set(catalog: Catalog, row: RunRow, metric: str, wanted: dict[str, str]) -> dict[str, Any]:
    """The one set of tags that has all those asked for, compared as they are typed: 1 is also "1"."""
    known = catalog.metric_tags(row.id, metric)
    fitting = [tags for tags in known if all(key in tags and text_of(tags[key]) == v for key, v in wanted.items())]
    if len(fitting) == 1:
        return fitting[0]
    listed = "; ".join(_spelled(tags) for tags in (fitting or known)[:10] if tags) or "none"
    if fitting:
        raise UsageError(
            f"{metric!r} of run {row.id} was logged with several such sets of tags.", hint=f"Name one: {listed}."
        )
    raise MetricNotFound(f"Run {row.id} has no points of {metric!r} with these tags.", hint=f"Its tags: {listed}.")


def _spelled(tags: dict[str, Any]) -> str:
    return " ".join(f"{key}={text_of(value)}" for key, value in tags.items())


def _tag(item: str) -> tuple[str, str]:
    key, sign, text = item.partition("=")
    if not sign or not key:
        raise UsageError(f"{item!r} is no tag.", hint="Write --tags KEY=VALUE.")
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
        writer.writerows(zip(*_columns(found, repr), strict=True))
        return
    columns = _columns(found, number)
    if out.terminal and len(found) > 1:
        rows = list(zip(*columns, strict=True))
        out.table(["step", *found], rows, [True] * len(columns))
    else:
        _print_plain(out, ["step", *map(clean, found)], columns)


def _columns(found: dict[str, Series], shown: Callable[[Any], str]) -> list[list[str]]:
    """The steps and each metric at them: empty where it has no point (a NaN that was logged is shown as nan)."""
    several = list(found.values())
    if len(several) == 1:
        return [[*map(str, several[0].steps)], [*map(shown, several[0].values)]]
    grid = sorted(set().union(*(one.steps for one in several)))
    texts = [dict(zip(one.steps, map(shown, one.values), strict=True)) for one in several]
    return [[*map(str, grid)], *([column.get(step, "") for step in grid] for column in texts)]


def _print_plain(out: Output, titles: list[str], columns: list[list[str]]) -> None:
    """As a table, but without looking at each cell by itself: a million points are no rarity."""
    wide = [max(width(title), max(map(len, column))) for title, column in zip(titles, columns, strict=True)]
    out.line("  ".join(" " * (w - width(title)) + title for title, w in zip(titles, wide, strict=True)), "bold")
    form = "  ".join(f"{{:>{w}}}" for w in wide).format
    lines = map(form, *columns)
    while batch := [line.rstrip() for line in islice(lines, 10_000)]:
        out.raw("\n".join(batch) + "\n")

"""paddock compare: mean, std and n over seeds."""

from __future__ import annotations

import click

from paddock.cli.choose import named_or_queried
from paddock.cli.command import Session, verb
from paddock.cli.keep import check_title, keep_report
from paddock.compare.diff import differing_keys
from paddock.compare.fields import MISSING, metric_names, spelled_out
from paddock.compare.grouped import GroupedTable, group_runs
from paddock.compare.stats import STATS, goal_of
from paddock.compare.table import check_keys
from paddock.compare.view import check_metric
from paddock.record.reports import Report

_HELP = """Compare groups of runs: mean ± sample standard deviation, and n, of each metric.

\b
  paddock compare project=mnist --metric acc --by lr
  paddock compare RUN RUN RUN
  paddock compare project=mnist --by lr --report "Learning rates"

Without --by, runs belong together when they agree in every config key that differs except seeds. Without --metric
every metric is shown. --stat says which value of a run counts: its best (lower is better for losses and errors or
where define_metric said so), last, min or max.
"""


@verb("compare", help=_HELP)
@click.argument("words", nargs=-1, metavar="[QUERY | RUN...]")
@click.option("-m", "--metric", "metrics", multiple=True, help="Only this metric; repeatable.")
@click.option("-b", "--by", multiple=True, metavar="KEY", help="Group by this key; repeatable.")
@click.option("--stat", type=click.Choice(STATS), default="best", show_default=True, help="The value of a run.")
@click.option("-s", "--sort", metavar="KEY", help="Sort by a group key or by a metric's mean; -KEY descending.")
@click.option("--report", "title", metavar="TITLE", help="Keep it on the board too, as a report of this title.")
def compare(
    session: Session,
    words: tuple[str, ...],
    metrics: tuple[str, ...],
    by: tuple[str, ...],
    stat: str,
    sort: str | None,
    title: str | None,
) -> None:
    check_title(title)
    with session.catalog() as catalog:
        runs = named_or_queried(catalog, words) if words else catalog.runs()
    for metric in metrics if runs else ():
        check_metric(metric, runs)
    check_keys(by, runs)
    keys = list(by) or differing_keys([run.config for run in runs], seeds=False)
    names = spelled_out(metrics, runs) or metric_names(runs)
    if sort is not None:
        check_keys([sort.lstrip("+-")], runs)
    table = group_runs(runs, keys, names, stat)
    if sort is not None:
        table = table.sort(sort)
    elif len(names) == 1:
        table = table.sort(names[0] if goal_of(names[0], runs[0].goals if runs else {}) == "min" else f"-{names[0]}")
    else:
        for key in reversed(keys):
            table = table.sort(key)
    report = None
    if title is not None:
        report = keep_report(session.home, title, [run.id for run in runs], spelled_out(metrics, runs), stat)
    _print(session, table, report)


def _print(session: Session, table: GroupedTable, report: Report | None) -> None:
    out = session.out
    out.json(
        {
            "by": table.by,
            "stat": table.stat,
            "groups": [
                {
                    "keys": {key: value for key, value in group.keys.items() if value is not MISSING},
                    "runs": [run.id for run in group.runs],
                    "metrics": group.metrics,
                }
                for group in table
            ],
            **({"report": report.id} if report is not None else {}),
        }
    )
    for group in table:
        out.bare(" ".join(run.id for run in group.runs))
    if not len(table):
        out.note("No run fits.")
        return
    headers, rows, right = table.cells()
    out.table(headers, rows, right)
    if report is not None:
        out.note(f"Kept as the report {report.title!r}: /reports/{report.id} on the board (`paddock serve`).")

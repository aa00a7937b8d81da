"""paddock query: SQL over the catalog."""

from __future__ import annotations

import csv
import sys
from typing import Any

import click

from paddock.cli.command import Session, verb
from paddock.compare.text import cell, is_numeric


@verb("query", help="Read-only SQL over the catalog:  paddock query --sql 'SELECT * FROM runs LIMIT 5'")
@click.option("--sql", required=True, metavar="SELECT", help="One statement; nothing can be changed by it.")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV.")
def query(session: Session, sql: str, as_csv: bool) -> None:
    with session.catalog() as catalog:
        columns, rows = catalog.sql(sql)
    out = session.out
    if as_csv and out.human:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)
        return
    out.json({"columns": list(columns), "rows": [list(row) for row in rows]})
    for row in rows:
        out.bare("\t".join(_exact(value) for value in row))
    if out.human:
        numeric = [is_numeric([row[i] for row in rows]) for i in range(len(columns))]
        text = [[_exact(value) for value in row] for row in rows]
        out.table(list(columns), text, numeric)


def _exact(value: Any) -> str:
    """What SQL gives is shown to the last digit."""
    if value is None:
        return ""
    return repr(value) if isinstance(value, float) else cell(value)

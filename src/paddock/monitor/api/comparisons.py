"""What differs between runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from msgspec import Meta, Struct

from paddock.compare.diff import DiffRow, diff, diff_packages
from paddock.compare.fields import MISSING
from paddock.errors import PaddockError, UsageError
from paddock.model import RunRow
from paddock.monitor.api.shapes import Brief
from paddock.monitor.house import Found
from paddock.monitor.http.route import Call, Route
from paddock.record import codediff
from paddock.record.codediff import FileDiff

MOST_CODES = 10
MOST_FILES = 500


class DiffParams(Struct, frozen=True):
    run: Annotated[tuple[str, ...], Meta(description="A run by id or name; two or more.", max_length=200)]
    every: Annotated[bool, Meta(description="Equal keys, too.")] = False
    packages: Annotated[bool, Meta(description="Python and its packages, too.")] = False
    code: Annotated[bool, Meta(description="The code of the first run against that of the others, too.")] = False


class Row(Struct, frozen=True):
    """One key over all runs; a run that lacks it is not among the values."""

    key: str
    values: dict[str, Any]
    equal: bool


class CodeDiff(Struct, frozen=True):
    """Between the snapshots of two runs; `note` says why there is nothing to compare."""

    a: str
    b: str
    note: str
    files: list[FileDiff]


class Diff(Struct, frozen=True):
    """`known_packages` is of how many runs they are known: of the others nothing can be said to be the same."""

    runs: list[Brief]
    config: list[Row]
    packages: list[Row] | None = None
    known_packages: int = 0
    code: list[CodeDiff] | None = None


def compare(call: Call) -> Diff:
    house, params = call.house, call.params
    house.fresh()
    found = list({run.entry.row.id: run for run in map(house.find, params.run)}.values())
    if len(found) < 2:
        raise UsageError("A diff needs two different runs or more.", hint="?run=A&run=B")
    rows = [run.entry.row for run in found]
    packages, known = None, 0
    if params.packages:
        each = [_packages(house.catalog(run.home).facts(run.entry.row.id)) for run in found]
        known = sum(map(bool, each))
        packages = _rows(rows, diff_packages(each, every=params.every))
    return Diff(
        [Brief(row.id, row.name, row.project, row.state) for row in rows],
        _rows(rows, diff([row.config for row in rows], every=params.every)),
        packages,
        known,
        _codes(found) if params.code else None,
    )


def _codes(found: Sequence[Found]) -> list[CodeDiff]:
    """One for each other snapshot: runs of the same code need no second look."""
    first = found[0]
    others = {run.entry.row.code: run for run in reversed(found[1:])}
    others.pop(first.entry.row.code, None)
    chosen = [run for run in found[1:] if run is others.get(run.entry.row.code)][:MOST_CODES]
    return [_code(first, other) for other in chosen]


def _code(left: Found, right: Found) -> CodeDiff:
    a, b = left.entry.row, right.entry.row
    for row in (a, b):
        if not row.code:
            return CodeDiff(a.id, b.id, f"{row.name or row.id} has no code snapshot.", [])
    if left.home != right.home:
        return CodeDiff(a.id, b.id, "They are in different homes.", [])
    try:
        return CodeDiff(a.id, b.id, "", codediff.diff(left.home, a.code, b.code)[:MOST_FILES])
    except PaddockError as error:
        return CodeDiff(a.id, b.id, str(error), [])


def _packages(facts: dict[str, Any]) -> dict[str, str]:
    environment = facts.get("environment")
    environment = environment if isinstance(environment, dict) else {}
    packages = environment.get("packages")
    found = {str(k): str(v) for k, v in packages.items()} if isinstance(packages, dict) else {}
    return {"(python)": str(environment["python"]), **found} if environment.get("python") else found


def _rows(runs: Sequence[RunRow], rows: Sequence[DiffRow]) -> list[Row]:
    return [
        Row(
            row.key,
            {run.id: value for run, value in zip(runs, row.values, strict=True) if value is not MISSING},
            row.equal,
        )
        for row in rows
    ]


ROUTES = [
    Route("GET", "/api/v1/diff", compare, "In what the configs of runs differ.", DiffParams, answer=Diff),
]

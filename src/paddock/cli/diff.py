"""paddock diff: what differs between runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from paddock.cli.choose import named
from paddock.cli.command import Session, verb
from paddock.cli.output import Cell
from paddock.cli.shape import label, mapping, short
from paddock.compare.diff import DiffRow, diff_packages
from paddock.compare.diff import diff as diff_configs
from paddock.compare.fields import MISSING
from paddock.compare.text import cell, clean, cut_to
from paddock.errors import PaddockError, UsageError
from paddock.model import RunRow
from paddock.record import code as code_store
from paddock.record.code import FileDiff

_HELP = """What differs between two or more runs: their config, and on request their code and packages.

Only what differs is shown; --all shows the equal rows too, dimmed. --code compares the first run with each other.
"""


@verb("diff", help=_HELP)
@click.argument("runs", nargs=-1, required=True, metavar="A B...")
@click.option("-a", "--all", "everything", is_flag=True, help="Equal keys too.")
@click.option("--code", "with_code", is_flag=True, help="The code, as a unified diff of the snapshots.")
@click.option("--env", "with_env", is_flag=True, help="Python and its packages.")
def diff(session: Session, runs: tuple[str, ...], everything: bool, with_code: bool, with_env: bool) -> None:
    if len(runs) < 2:
        raise UsageError("A diff needs two runs or more.", hint="paddock diff A B...")
    with session.catalog() as catalog:
        found = named(catalog, runs)
        facts = [catalog.facts(run.id) for run in found] if with_env else []
    if len(found) < 2:
        raise UsageError(f"All of them name the same run, {label(found[0])}.", hint="Name two different runs.")
    config = diff_configs([run.config for run in found], every=everything)
    packages = diff_packages([_packages(one) for one in facts], every=everything) if with_env else []
    code = [(other, _code(session, found[0], other)) for other in found[1:]] if with_code else []
    _json(session, found, config, packages if with_env else None, code if with_code else None)
    if not session.out.human:
        for row in config:
            session.out.bare(row.key)
        return
    _table(session, "config", found, config)
    if with_env:
        session.out.line()
        _table(session, "packages", found, packages)
    for other, (files, why) in code:
        _print_code(session, found[0], other, files, why)


def _packages(facts: dict[str, Any]) -> dict[str, str]:
    environment = mapping(facts.get("environment"))
    return {"(python)": str(environment.get("python", "")), **mapping(environment.get("packages"))}


def _code(session: Session, left: RunRow, right: RunRow) -> tuple[list[FileDiff], str]:
    """The differences, or why there is nothing to compare."""
    for run in (left, right):
        if not run.code:
            return [], f"{label(run)} has no code snapshot"
    try:
        return code_store.diff(session.home, left.code, right.code), ""
    except PaddockError as error:
        return [], str(error)


def _json(
    session: Session,
    runs: Sequence[RunRow],
    config: Sequence[DiffRow],
    packages: Sequence[DiffRow] | None,
    code: Sequence[tuple[RunRow, tuple[list[FileDiff], str]]] | None,
) -> None:
    result: dict[str, Any] = {"runs": [short(run) for run in runs], "config": [_row(runs, row) for row in config]}
    if packages is not None:
        result["packages"] = [_row(runs, row) for row in packages]
    if code is not None:
        result["code"] = [{"a": runs[0].id, "b": other.id, "note": why, "files": files} for other, (files, why) in code]
    session.out.json(result)


def _row(runs: Sequence[RunRow], row: DiffRow) -> dict[str, Any]:
    """A run that lacks the key is not among the values: null is something else."""
    values = {run.id: value for run, value in zip(runs, row.values, strict=True) if value is not MISSING}
    return {"key": row.key, "values": values, "equal": row.equal}


def _table(session: Session, what: str, runs: Sequence[RunRow], rows: Sequence[DiffRow]) -> None:
    if not rows:
        session.out.line(f"The {what} is the same." if what == "config" else f"The {what} are the same.")
        return
    text: list[list[Cell]] = [
        [
            _dim(row.key, row.equal),
            *(_dim("-" if v is MISSING else cell(v), row.equal or v is MISSING) for v in row.values),
        ]
        for row in rows
    ]
    session.out.table([what, *(_header(run) for run in runs)], text)


def _header(run: RunRow) -> str:
    return run.id if run.name in ("", run.id) else f"{cut_to(clean(run.name), 24)} ({run.id})"


def _dim(text: str, dim: bool) -> Cell:
    return (text, "dim") if dim else text


_STYLES = {"+": "green", "-": "red", "@": "cyan"}


def _print_code(session: Session, left: RunRow, right: RunRow, files: list[FileDiff], why: str) -> None:
    out = session.out
    out.heading(f"code: {label(left)} -> {label(right)}")
    if why or not files:
        out.line(why or "The code is the same.")
    for file in files:
        if not file.text.startswith("--- "):
            out.line(f"{file.path}: {clean(file.text.strip())}", "bold")
            continue
        for line in file.text.rstrip("\n").split("\n"):
            out.line(
                line.replace("\t", "    "), _STYLES.get(line[:1], "") if not line.startswith(("+++", "---")) else "bold"
            )

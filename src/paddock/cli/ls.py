"""paddock ls: runs as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import time
from typing import Any

import click

from paddock.cli.command import Session, verb
from paddock.cli.output import JSON, UNLIMITED, Cell, Output
from paddock.cli.shape import STATE_STYLES, run_raw
from paddock.compare.bar import short
from paddock.compare.diff import differing_keys
from paddock.compare.fields import lookup, metric_names
from paddock.compare.select import parse, select, sort_runs
from paddock.compare.table import check_keys
from paddock.compare.text import cut_to, field_cell, is_numeric, many, width
from paddock.model import RUNNING, RunRow
from paddock.record.layout import Home

TERMINAL_LIMIT = 50  # runs, unless --limit or --all says otherwise
_NAME_WIDTH = 40  # a longer text is cut on a terminal; never in a pipe
_NAME_ROOM = 24  # what a long name keeps when there are numbers to show beside it
_SHORTEST = 12
_WHOLE = frozenset({"id", "state", "progress", "created", "started", "ended", "seen", "duration", "age"})  # never cut
_ALWAYS = ("id", "name", "project", "state", "created", "duration")
_HELP = """List runs, newest first.

\b
  paddock ls state=running
  paddock ls 'lr<0.01 tag:base' --sort -best.acc
  paddock ls project=mnist 'created>2d' --columns id,lr,last.loss

\b
QUERY
  state=failed  lr!=0.1  lr<=0.01         compare; numbers as numbers
  lr=0.1,0.01   lr in (0.1, 0.01)         any of these
  name~^res     name!~debug               a regular expression
  has:lr  tag:base  star  bug             has the key, the tag, the mark
  created>2d    created>=2026-11-01       younger than two days; since a date
  duration>1h   age<30m                   s, m, h, d, w
  a=1 b=2   a=1 or b=2   not (a=1)        beside each other means "and"

\b
KEYS
  id name project group job_type tags notes state reason created ended
  duration attempts host user commit parent ...          the run itself
  lr   config.model.name   summary.note                  config and summary
  last.loss min.loss max.acc best.acc step.loss          metrics

A bare key is a field, else a config key, else a metric's last value. Quote < > ~ ( ) from the shell.
"""


@verb("ls", help=_HELP)
@click.argument("query", nargs=-1)
@click.option("-s", "--sort", "sort", multiple=True, metavar="KEY", help="Sort by a key, -KEY descending; repeatable.")
@click.option(
    "-n", "--limit", type=click.IntRange(min=0), metavar="N", help=f"At most so many [{TERMINAL_LIMIT} on a terminal]."
)
@click.option("-c", "--columns", metavar="KEY,KEY", help="Columns instead of the usual ones; '+KEY' adds to them.")
@click.option("-a", "--all", "everything", is_flag=True, help="No limit.")
def ls(
    session: Session, query: tuple[str, ...], sort: tuple[str, ...], limit: int | None, columns: str, everything: bool
) -> None:
    now = time()
    tree = parse(" ".join(query), now)
    with session.catalog() as catalog:
        every = catalog.runs()
        hidden, away = catalog.unreadable, dict(catalog.away)
    keys = [key for item in sort for key in item.split(",") if key]
    check_keys([key.lstrip("+-") for key in keys], every)
    asked = [name.strip() for name in columns.split(",") if name.strip()] if columns else []
    check_keys([name.removeprefix("+") for name in asked], every)
    found = sort_runs(select(every, tree, now), *keys, now=now)
    if limit is None and session.out.terminal and session.out.human and not everything:
        limit = TERMINAL_LIMIT
    shown = found if limit is None or everything else found[:limit]
    _print(session, shown, Counted(len(found), len(every), hidden), asked, now)
    if hidden:
        session.out.note(private(hidden, session.home))
    for queue, why in away.items():
        session.out.note(f"What waits in {queue} is told as it was last seen: {why}")


@dataclass(frozen=True)
class Counted:
    """How many there are beside those that are shown."""

    total: int  # that fit the query
    every: int
    unreadable: tuple[str, ...]


def private(runs: Sequence[str], home: Home) -> str:
    """That there are runs which this user may not read, and what their owners can do."""
    owners = sorted({_owner(home.runs / run_id) for run_id in runs} - {""})
    named = ", ".join(runs[:5]) + (" ..." if len(runs) > 5 else "")
    whose = f" (of {', '.join(owners)})" if owners else ""
    return f"{many(len(runs), 'run')} cannot be read: {named}{whose}. chmod -R go+rX shares a run."


def _owner(path: Path) -> str:
    try:
        return path.owner()
    except (OSError, KeyError):
        return ""


def _print(session: Session, shown: list[RunRow], counted: Counted, asked: list[str], now: float) -> None:
    out = session.out
    names = [name for name in asked if not name.startswith("+")]
    extra = [name[1:] for name in asked if name.startswith("+")]
    if out.mode == JSON:  # ten thousand runs take a while to shape: not for nothing
        rows = [
            {name: lookup(run, name, now) for name in names + extra} if names else run_raw(run, now) for run in shown
        ]
        out.json({"runs": rows, "total": counted.total, "unreadable": counted.unreadable})
    for run in shown:
        out.bare(run.id)
    if not shown:
        what = "No run fits." if counted.every and not counted.total else "No runs."
        out.note(what if counted.every else f"No runs in {session.home.path}.")
        return
    if out.human:
        chosen = names + extra if names else usual_columns(shown, out.width, now, extra)
        out.table(*cells(shown, chosen, now, fit(shown, chosen, out.width, now) if out.terminal else {}))
        if counted.total > len(shown):
            out.note(f"{counted.total - len(shown)} more; --all shows them.")


def usual_columns(runs: Sequence[RunRow], room: int, now: float, extra: Sequence[str] = ()) -> list[str]:
    """The columns that fit: the fields, then two metrics, the config keys that differ, and more metrics."""
    counters = [name for name in ("damaged", "dropped") if any(getattr(run, name) for run in runs)]
    marks = [name for name in ("star", "bug") if any(getattr(run, name) for run in runs)]
    if any(run.progress is not None and run.state == RUNNING for run in runs):
        marks.append("progress")
    config = [f"config.{key}" for key in differing_keys([run.config for run in runs])]
    metrics = [f"last.{name}" for name in metric_names(runs)[:6]]
    shown = [*_ALWAYS, *counters, *marks, *extra]
    if room >= UNLIMITED:
        return [*_ALWAYS, *marks, *config[:12], *metrics, *extra, *counters]
    room -= sum(min(_wide(runs, name, now), _NAME_ROOM) for name in shown)
    admitted = set()
    for name in [*metrics[:2], *config[:12], *metrics[2:]]:
        room -= _wide(runs, name, now)
        if room < -2:  # the last column needs no gap after it
            break
        admitted.add(name)
    rest = [name for name in (*config, *metrics) if name in admitted and name not in shown]
    return [*_ALWAYS, *marks, *rest, *extra, *counters]


def _field(run: RunRow, name: str, now: float) -> str:
    if name == "progress":  # of what is over, the state says it all
        return short(run.progress) if run.progress is not None and run.state == RUNNING else ""
    return field_cell(name, lookup(run, name, now), now)


def _wide(runs: Sequence[RunRow], name: str, now: float) -> int:
    longest = max((width(_field(run, name, now)) for run in runs), default=0)
    return max(len(_header(name)), min(longest, _NAME_WIDTH)) + 2


def fit(runs: Sequence[RunRow], names: Sequence[str], room: int, now: float) -> dict[str, int]:
    """How wide each column of free text may be for the table to fit: the widest gives way first."""
    widths = {name: _wide(runs, name, now) - 2 for name in names}
    over = sum(widths.values()) + 2 * (len(widths) - 1) - room
    free = {name for name in names if name not in _WHOLE}
    while over > 0:
        widest = max(free, key=lambda name: widths[name], default="")
        if not widest or widths[widest] <= _SHORTEST:
            break
        widths[widest] -= 1
        over -= 1
    return {name: widths[name] for name in free}


def _header(name: str) -> str:
    return {"star": "*", "bug": "!"}.get(name, name.removeprefix("config.").removeprefix("last."))


def list_runs(out: Output, runs: Sequence[RunRow]) -> None:
    """What somebody is asked about."""
    names, now = ("id", "name", "project", "state", "created", "duration"), time()
    out.table(*cells(runs, names, now, fit(runs, names, out.width, now) if out.terminal else {}))


def cells(
    runs: Sequence[RunRow], names: Sequence[str], now: float, limits: Mapping[str, int] = {}
) -> tuple[list[str], list[list[Cell]], list[bool]]:
    columns: list[list[Any]] = [[lookup(run, name, now) for run in runs] for name in names]
    rows = [[_styled(name, _field(run, name, now), limits) for name in names] for run in runs]
    right = [is_numeric(column) or name in ("created", "duration") for name, column in zip(names, columns, strict=True)]
    return [_header(name) for name in names], rows, right


def _styled(name: str, text: str, limits: Mapping[str, int]) -> Cell:
    if name == "state":
        return text, STATE_STYLES.get(text, "")
    if name in ("damaged", "dropped", "bug", "alerts"):
        return text, "red"
    if name == "id":
        return text, "bold"
    if name == "progress" and text.startswith(("failed", "lost")):
        return text, STATE_STYLES[text.split(" ")[0]]
    return cut_to(text, limits[name]) if name in limits else text

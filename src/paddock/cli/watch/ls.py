"""paddock watch ls: the watches, who keeps them, and how their evaluations stand."""

from __future__ import annotations

import os

from paddock.cli.command import Session, verb
from paddock.cli.output import Cell
from paddock.cli.queued import fitted_table
from paddock.cli.watch.shown import (
    COUNTED,
    SHORT,
    STYLES,
    WIDE,
    brief,
    distinct,
    kept,
    known,
    near,
    shown_best,
    shown_pattern,
)
from paddock.compare.text import path_end
from paddock.evaluate.ledger.watcher import watchers
from paddock.evaluate.watching.globs import path_of
from paddock.monitor.watches import Stands, stands, watch_json
from paddock.queue.show.roster import ALIVE

_NARROW = 16  # columns of a directory on a narrow terminal
_HELP = """List the watches: who keeps each, how its evaluations stand, its last checkpoint and its best.

A watch is a directory that was ever watched in this home; `watched` says whether somebody watches it now. A directory
that is itself called ls is watched as ./ls.
"""


@verb("watch ls", help=_HELP)
def ls(session: Session) -> None:
    out = session.out
    found = [stands(watch) for watch in known(session)]
    living = [seen for seen in watchers(session.home) if seen.state == ALIVE]
    patterns = {one: seen for seen in living for one in seen.facts.globs if not os.path.isdir(path_of(one))}
    out.json({"watches": [watch_json(one) for one in found], "globs": sorted(patterns)})
    for one in found:
        out.bare(one.watch.id)
    for pattern, seen in patterns.items():
        if path_of(pattern):
            out.note(f"{shown_pattern(pattern)} is not there yet; {seen.name} watches it as soon as it appears.")
        else:
            out.note(f"Directories that fit {near(pattern)} are watched as they appear, by {seen.name}.")
    if not found and not patterns:
        out.note("Nothing has been watched yet. `paddock watch DIRECTORY --evaluator file.py:fn` begins.")
    if not found:
        return
    paths = [one.watch.directory for one in found]
    names = distinct(paths) if out.terminal else {path: near(path) for path in paths}
    if out.terminal and out.width < WIDE:
        rows = [_narrow(one, path_end(names[one.watch.directory], _NARROW)) for one in found]
        headers = ["directory", "watched", *(SHORT[state] for state in COUNTED), "step", "best"]
        fitted_table(out, headers, rows, flexible=[8], right=range(2, 7))
    else:
        rows = [_wide(one, names[one.watch.directory]) for one in found]
        headers = ["id", "directory", "evaluators", "watched", *COUNTED, "last", "best"]
        fitted_table(out, headers, rows, flexible=[1, 2, 9, 10], right=range(4, 9), paths=[1])


def _narrow(one: Stands, name: str) -> list[Cell]:
    return [(name, "bold"), kept(one.watch), *_counts(one), brief(one.last, False), shown_best(one.best)]


def _wide(one: Stands, name: str) -> list[Cell]:
    return [
        (one.watch.id[:8], "bold"),
        name,
        ", ".join(one.watch.evaluators),
        kept(one.watch),
        *_counts(one),
        brief(one.last, True),
        shown_best(one.best),
    ]


def _counts(one: Stands) -> list[Cell]:
    return [(str(one.counts[state]), STYLES.get(state, "") if one.counts[state] else "dim") for state in COUNTED]

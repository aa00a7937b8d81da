"""paddock watch ls: the watches, who keeps them, and how their evaluations stand."""

from __future__ import annotations

from paddock.cli.command import Session, verb
from paddock.cli.output import Cell
from paddock.cli.queued import fitted_table
from paddock.cli.watched import STYLES, Stands, kept, known, near, shown_best, shown_last, stands, watch_json

_COUNTED = ("pending", "running", "done", "failed", "missed")
_HELP = """List the watches: who keeps each, how its evaluations stand, its last checkpoint and its best.

A watch is a directory that was ever watched in this home; `watched` says whether somebody watches it now. A directory
that is itself called ls is watched as ./ls.
"""


@verb("watch ls", help=_HELP)
def ls(session: Session) -> None:
    out = session.out
    found = [stands(watch) for watch in known(session)]
    out.json({"watches": [watch_json(one) for one in found]})
    for one in found:
        out.bare(one.watch.id)
    if not found:
        out.note("Nothing has been watched yet. `paddock watch DIRECTORY --evaluator file.py:fn` begins.")
        return
    headers = ["id", "directory", "evaluators", "watched", *_COUNTED, "last", "best"]
    fitted_table(out, headers, [_row(one) for one in found], flexible=[1, 2, 9, 10], right=range(4, 9))


def _row(one: Stands) -> list[Cell]:
    counted = one.counts
    return [
        (one.watch.id[:8], "bold"),
        near(one.watch.directory),
        ", ".join(one.watch.evaluators),
        kept(one.watch),
        *((str(counted[state]), STYLES.get(state, "") if counted[state] else "dim") for state in _COUNTED),
        shown_last(one.last),
        shown_best(one.best),
    ]

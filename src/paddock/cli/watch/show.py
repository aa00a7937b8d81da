"""paddock watch show: every checkpoint of a watch, and what became of it."""

from __future__ import annotations

import os
from collections.abc import Sequence

import click

from paddock.cli.command import Session, verb
from paddock.cli.output import Cell, Output
from paddock.cli.queued import fitted_table
from paddock.cli.watch.shown import STYLES, WIDE, chosen, life, near, shown_best, shown_last, the_one
from paddock.compare.text import many, moment, number, path_end, span
from paddock.evaluate.ledger.account import STATES, Evaluation
from paddock.evaluate.ledger.entry import FAILED, VOID
from paddock.monitor.watches import Stands, evaluation_json, stands, watch_json

_NARROW = 20  # columns of a checkpoint on a narrow terminal
_REASONS = 10  # that are told in full
_HELP = """Everything about one watch: who keeps it, and every checkpoint with its scores.

\b
  paddock watch show out
  paddock watch show out --state failed --state missed

`waited` is the time from when a checkpoint was found complete until its evaluator was called, `took` is what the
evaluator needed. Of what has failed, was missed or was passed over the reason is told. The only watch need not be
named.
"""


@verb("watch show", help=_HELP)
@click.argument("watch", required=False, metavar="[WATCH|DIRECTORY]")
@click.option("--state", "states", multiple=True, type=click.Choice(STATES), help="Only these; repeatable.")
def show(session: Session, watch: str | None, states: tuple[str, ...]) -> None:
    out = session.out
    found = stands(*chosen(session, [the_one(session, watch)]))
    listed = [one for one in found.evaluations if not states or one.state in states]
    out.json({**watch_json(found), "evaluations": [evaluation_json(one) for one in listed]})
    for one in listed:
        out.bare(one.finding.path)
    if not out.human:
        return
    out.fields(_about(found), indent=0)
    if listed:
        out.line()
        _table(out, found, listed)
        _reasons(out, listed)


def _table(out: Output, found: Stands, listed: Sequence[Evaluation]) -> None:
    narrow = out.terminal and out.width < WIDE
    rows = [_row(found, one, narrow) for one in listed]
    headers = ["checkpoint", "step", "evaluator", "state", "scores", "found", "waited", "took"]
    several = len({one.finding.evaluator for one in found.evaluations}) > 1
    left_out = {headers[i] for i in range(len(headers)) if all(row[i] in ("", ("", "")) for row in rows)}
    left_out |= ({"found"} if narrow else set()) | (set() if several or not out.terminal else {"evaluator"})
    keep = [i for i, header in enumerate(headers) if header not in left_out]
    fitted_table(
        out,
        [headers[i] for i in keep],
        [[row[i] for i in keep] for row in rows],
        flexible=[keep.index(i) for i in (0, 4) if i in keep],
        right=[keep.index(i) for i in (1, 6, 7) if i in keep],
    )


def _reasons(out: Output, listed: Sequence[Evaluation]) -> None:
    """In full: in the table they are cut to the width of the terminal."""
    failed = [one for one in listed if one.state in (FAILED, VOID) and one.reason]
    if out.terminal and failed:
        out.line()
        for one in failed[-_REASONS:]:
            out.line(f"{shown_last(one)} {one.finding.evaluator}: {one.reason}")


def _about(found: Stands) -> list[tuple[str, Cell]]:
    watch = found.watch
    counted = ", ".join(f"{count} {state}" for state, count in found.counts.items() if count)
    about: list[tuple[str, Cell]] = [
        ("watch", (watch.id, "bold")),
        ("directory", watch.directory),
        ("evaluators", ", ".join(watch.evaluators)),
        ("evaluations", counted or "none yet"),
    ]
    if found.best is not None:
        about.append(("best", f"{shown_best(found.best)}  {near(found.best.evaluation.finding.path)}"))
    for seen in watch.watchers:
        text, style = life(seen)
        since = f" since {moment(seen.facts.started)}" if seen.facts.started else ""
        about.append(("watched", (f"{text}{since} by {seen.name} (pid {seen.pid})", style)))
        if seen.facts.log:
            about.append(("log", seen.facts.log))
    if not watch.watchers:
        about.append(("watched", ("no", "dim")))
    left = found.counts["pending"]
    if left and not watch.is_watched:
        ours = str(watch.ledger.path.parents[1] / "queues")  # known by their names
        queues = ", ".join(os.path.basename(q) if os.path.dirname(q) == ours else near(q) for q in watch.queues)
        about.append(("", f"{many(left, 'evaluation')} left in the queue {queues}"))
    return about


def _row(found: Stands, one: Evaluation, narrow: bool) -> list[Cell]:
    path = one.finding.path
    inside = os.path.relpath(path, found.watch.directory) if path.startswith(found.watch.directory) else path
    scores = " ".join(
        f"{name}={number(value)}"
        for name, value in (one.result.values if one.result else {}).items()
        if isinstance(value, (int, float))
    )
    return [
        (path_end(inside, _NARROW) if narrow else inside, "bold"),
        "" if one.finding.step is None else str(one.finding.step),
        one.finding.evaluator,
        (one.state, STYLES.get(one.state, "")),
        scores or one.reason,
        moment(one.finding.found)[11:] if one.finding.found else "",
        "" if one.waited is None else span(one.waited),
        "" if one.took is None else span(one.took),
    ]

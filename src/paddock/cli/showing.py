"""Bars of progress, timings and open questions, as people see them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from paddock.cli.output import Cell, Output
from paddock.cli.shape import STATE_STYLES
from paddock.compare import bar as text
from paddock.compare.text import age, cell, cut_to, number, span
from paddock.model import RUNNING, Progress, Question

_DRAWN = 20  # columns of a bar
_TITLE = 40  # columns of its message on a terminal
_ENDED = 5  # that are shown of those that are over; --json has more
_STYLES = STATE_STYLES | {"done": "green"}


def show_bars(out: Output, bars: Sequence[Progress]) -> None:
    over = [bar for bar in bars if bar.state != RUNNING]
    hidden = {bar.id for bar in over[:-_ENDED]}
    shown = [bar for bar in bars if bar.id not in hidden]
    if not shown:
        return
    out.heading("progress")
    rows = [_row(bar, out.terminal) for bar in shown]
    out.table(
        ["work", "", "", "done", "state", "rate", "left"], rows, [False, False, True, True] + [False] * 3, indent=2
    )
    if hidden:
        out.line(f"  ... and {len(hidden)} more that ended before", "dim")


def _row(bar: Progress, terminal: bool) -> list[Cell]:
    style = _STYLES.get(bar.state, "")
    title = text.title(bar)
    return [
        cut_to(title, _TITLE) if terminal else title,
        (text.drawn(bar, _DRAWN), style),
        text.percent(bar),
        text.amount(bar),
        (bar.state, style),
        text.pace(bar),
        span(bar.eta) if bar.eta is not None else "",
    ]


def show_timings(out: Output, records: Sequence[Mapping[str, Any]]) -> None:
    """What was said last of each event, as on the board."""
    last = {cell(record.get("event")): record for record in records}
    if not last:
        return
    out.heading("timings")
    rows: list[list[Cell]] = [
        [event, _seconds(one.get("mean")), _seconds(one.get("std")), cell(one.get("instances"))]
        for event, one in last.items()
    ]
    out.table(["event", "mean", "std", "times"], rows, [False, True, True, True], indent=2)


def _seconds(value: Any) -> str:
    """0.00042s: of the pieces of a step a tenth of a second is too coarse."""
    return f"{number(value)}s" if isinstance(value, int | float) else cell(value)


def show_questions(out: Output, questions: Sequence[Question], now: float) -> None:
    if not questions:
        return
    out.heading("questions")
    for question in questions:
        out.line("  " + question_line(question, now), "bold")
        out.line(f"    paddock answer {question.run} {question.id} TEXT", "dim")


def question_line(question: Question, now: float) -> str:
    """Continue? [yes, no] (asked 3s ago, 57s left)."""
    choices = f" [{', '.join(question.choices)}]" if question.choices else ""
    left = f", {span(max(0.0, question.until - now))} left" if question.until is not None else ""
    return f"{question.prompt}{choices} (asked {age(now - question.asked)}{left})"

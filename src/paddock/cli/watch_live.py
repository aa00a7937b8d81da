"""The live view of a watch in the terminal: a row for each directory, and what happened last."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from typing import Any

from rich.console import Console, Group
from rich.live import Live as RichLive
from rich.table import Table
from rich.text import Text

from paddock.cli.watch_follow import Row
from paddock.cli.watch_view import line
from paddock.cli.watched import STYLES, near, shown_best, shown_last
from paddock.compare.text import clean, span
from paddock.evaluate.account import CANCELLED, PENDING, RUNNING, Evaluation
from paddock.evaluate.ledger import DONE, FAILED, MISSED, VOID

_EVENTS = 6  # that are shown
_WIDE = 100  # columns from which the headers are whole words
_SHOWN = (PENDING, RUNNING, DONE, FAILED, MISSED)
_SHORT = {PENDING: "wait", RUNNING: "run", DONE: "done", FAILED: "fail", MISSED: "miss"}
_TOLD = (DONE, FAILED, MISSED, VOID, CANCELLED)


class Live:
    def __init__(self, title: str, console: Console | None = None) -> None:
        self._title = title
        self._console = console or Console(markup=False, highlight=False, emoji=False)
        self._events: deque[Text] = deque(maxlen=_EVENTS)
        self._rows: Sequence[Row] = ()
        self._live = RichLive(
            get_renderable=self.render, console=self._console, refresh_per_second=2, redirect_stdout=False
        )
        self._live.start()

    def said(self, text: str) -> None:
        self._event(text, "dim")

    def changed(self, one: Evaluation) -> None:
        if one.state in _TOLD:
            self._event(line(one), STYLES.get(one.state, ""))

    def stands(self, rows: Sequence[Row]) -> None:
        self._rows = rows

    def close(self) -> None:
        self._live.stop()

    def render(self) -> Group:
        parts: list[Any] = [Text(self._title, "bold", no_wrap=True, overflow="ellipsis")]
        if self._rows:
            parts.append(self._table())
        return Group(*parts, *([Text("")] if self._events else []), *self._events)

    def _event(self, text: str, style: str) -> None:
        moment = f"{time.strftime('%H:%M:%S')} "
        self._events.append(Text(moment, "dim", no_wrap=True, overflow="ellipsis").append(clean(text), style))

    def _table(self) -> Table:
        wide = self._console.width >= _WIDE
        table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, expand=True, header_style="dim")
        table.add_column("directory", ratio=3, no_wrap=True, overflow="ellipsis", min_width=8)
        table.add_column("last checkpoint" if wide else "last", ratio=3, no_wrap=True, overflow="ellipsis", min_width=8)
        for state in _SHOWN:
            table.add_column(state if wide else _SHORT[state], justify="right", no_wrap=True)
        table.add_column("best", ratio=4, no_wrap=True, overflow="ellipsis", min_width=8)
        table.add_column("latency", justify="right", no_wrap=True)
        room = max(3, self._console.height - _EVENTS - 5)
        shown = self._rows
        if len(shown) > room:  # those where something happens
            latest = sorted(shown, key=lambda row: -row.changed)[: room - 1]
            shown = [row for row in self._rows if row in latest]
        for row in shown:
            table.add_row(
                Text(clean(_tail(near(row.directory), 60))),
                Text(clean(shown_last(row.last))),
                *(_count(row.counts.get(state, 0), state) for state in _SHOWN),
                Text(clean(shown_best(row.best))),
                "" if row.waited is None else span(row.waited),
            )
        if len(shown) < len(self._rows):
            others = [row for row in self._rows if row not in shown]
            totals = [sum(row.counts.get(state, 0) for row in others) for state in _SHOWN]
            counted = (_count(total, state) for total, state in zip(totals, _SHOWN, strict=True))
            table.add_row(Text(f"and {len(others)} more", "dim"), "", *counted, "", "")
        return table


def _count(number: int, state: str) -> Text:
    return Text(str(number), STYLES.get(state, "") if number else "dim")


def _tail(path: str, room: int) -> str:
    """The end of a path says more than its beginning."""
    return path if len(path) <= room else "…" + path[len(path) - room + 1 :]

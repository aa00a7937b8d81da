"""The live view of a watch in the terminal: a row for each directory, and what happened last."""

from __future__ import annotations

import contextlib
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from rich.console import Console, Group
from rich.live import Live as RichLive
from rich.table import Table
from rich.text import Text

from paddock.cli.watch.keeping.follow import Row
from paddock.cli.watch.keeping.view import line
from paddock.cli.watch.shown import COUNTED, SHORT, STYLES, WIDE, brief, distinct, shortened, shown_best, shown_last
from paddock.compare.text import clean, path_end, span
from paddock.evaluate.ledger.account import CANCELLED, Evaluation
from paddock.evaluate.ledger.entry import DONE, FAILED, MISSED, VOID

_EVENTS = 6  # that are shown
_ALL_COLUMNS = 72  # columns of a terminal from which there is room for the latency and for states that nothing is in
_FAR = 160  # columns from which the table is no wider than it need be: the eye would lose the line
_TOLD = (DONE, FAILED, MISSED, VOID, CANCELLED)


class Live:
    def __init__(self, title: Callable[[], str], evaluators: int = 1, console: Console | None = None) -> None:
        self._title, self._evaluators = title, evaluators
        self._console = console or Console(markup=False, highlight=False, emoji=False)
        self._events: deque[Text] = deque(maxlen=_EVENTS)
        self._happened = 0  # events so far
        self._rows: Sequence[Row] = ()
        self._names: dict[str, str] = {}  # directory -> what tells it from the others
        self._drawn: object = None  # what there was to be seen when it was last drawn
        # Drawn when something is new, and not by the clock: that took three times as much as the watching itself.
        self._live = RichLive(
            get_renderable=self.render, console=self._console, auto_refresh=False, redirect_stdout=False
        )
        self._silence = _no_echo()
        self._silence.__enter__()
        self._live.start()

    def said(self, text: str) -> None:
        if not text.startswith("found "):  # that is in the table
            for directory, name in self._names.items():
                text = text.replace(f"{directory.rstrip('/')}/", f"{name}/" if len(self._names) > 1 else "")
            self._event("", shortened(text), "")

    def changed(self, one: Evaluation) -> None:
        if one.state in _TOLD:
            about = line(one, self._place(one)).removeprefix(one.state)
            self._event(one.state, about, STYLES.get(one.state, ""))

    def stands(self, rows: Sequence[Row]) -> None:
        """After every look. Here it is drawn, and not where something is said: a checkpoint may wait then."""
        self._rows = rows
        if len(self._names) != len(rows):
            self._names = distinct([row.directory for row in rows])
        latest = max((row.changed for row in rows), default=0.0)
        news = (self._console.size, len(rows), latest, self._happened)
        if news != self._drawn:
            self._drawn = news
            self._live.refresh()

    def close(self) -> None:
        self._live.stop()
        self._silence.__exit__(None, None, None)

    def render(self) -> Group:
        parts: list[Any] = [Text(self._title(), "bold", no_wrap=True, overflow="ellipsis")]
        if self._rows:
            parts.append(self._table())
        return Group(*parts, *([Text("")] if self._events else []), *self._events)

    def _event(self, state: str, text: str, style: str) -> None:
        event = Text(no_wrap=True, overflow="ellipsis").append(f"{time.strftime('%H:%M:%S')} ", "dim")
        self._events.append(event.append(state, style).append(clean(text)))
        self._happened += 1

    def _place(self, one: Evaluation) -> str:
        """Which one, in as few words as tell it from the others."""
        words = [shown_last(one) if one.finding.step is None else f"step {one.finding.step}"]
        if len(self._names) > 1:
            owner = next((d for d in self._names if one.finding.path.startswith(f"{d.rstrip('/')}/")), "")
            words.insert(0, path_end(self._names.get(owner, ""), self._room))
        if self._evaluators > 1:
            words.append(one.finding.evaluator)
        return " ".join(words)

    @property
    def _room(self) -> int:
        """The columns of a directory's name."""
        return max(12, self._console.width // (4 if self._console.width >= WIDE else 5))

    def _table(self) -> Table:
        width = self._console.width
        wide, narrow = width >= WIDE, width < _ALL_COLUMNS
        states = [s for s in COUNTED if not narrow or s == DONE or any(row.counts.get(s) for row in self._rows)]
        table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, expand=width < _FAR, header_style="dim")
        table.add_column("directory", no_wrap=True)
        last = "last checkpoint" if wide else "step"
        table.add_column(last, ratio=3 if wide else None, no_wrap=True, overflow="ellipsis", min_width=6, max_width=40)
        for state in states:
            table.add_column(state if wide else SHORT[state], justify="right", no_wrap=True)
        table.add_column("best", ratio=4, no_wrap=True, overflow="ellipsis", min_width=8)
        if not narrow:
            table.add_column("latency", justify="right", no_wrap=True)
        shown = self._chosen()
        for row in shown:
            table.add_row(
                Text(path_end(clean(self._names.get(row.directory, row.directory)), self._room)),
                Text(brief(row.last, wide)),
                *(_count(row.counts.get(state, 0), state) for state in states),
                Text(clean(shown_best(row.best))),
                *([] if narrow else ["" if row.waited is None else span(row.waited)]),
            )
        if len(shown) < len(self._rows):
            others = [row for row in self._rows if row not in shown]
            counted = (_count(sum(row.counts.get(state, 0) for row in others), state) for state in states)
            table.add_row(Text(f"and {len(others)} more", "dim"), "", *counted)
        return table

    def _chosen(self) -> list[Row]:
        """As many as there is room for, those where something happened last."""
        room = max(3, self._console.height - _EVENTS - 5)
        if len(self._rows) <= room:
            return list(self._rows)
        latest = sorted(range(len(self._rows)), key=lambda i: -self._rows[i].changed)[: room - 1]
        return [self._rows[i] for i in sorted(latest)]


def _count(number: int, state: str) -> Text:
    return Text(str(number), STYLES.get(state, "") if number else "dim")


@contextlib.contextmanager
def _no_echo() -> Iterator[None]:
    """What is typed, and the ^C, would be printed into the view."""
    try:
        import termios

        fd = sys.stdin.fileno()
        before = termios.tcgetattr(fd)
    except (ImportError, OSError, ValueError, AttributeError, termios.error):
        yield
        return
    quiet = [*before]
    quiet[3] = before[3] & ~termios.ECHO
    termios.tcsetattr(fd, termios.TCSADRAIN, quiet)
    try:
        yield
    finally:
        termios.tcsetattr(fd, termios.TCSADRAIN, before)

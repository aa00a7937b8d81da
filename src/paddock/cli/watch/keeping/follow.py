"""What happens to the evaluations while we watch, told to whoever shows it. A thread looks: showing must not hold up
watching."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from paddock.evaluate.ledger.account import PENDING, RUNNING, Account, Evaluation, Tasks, counts, tasks
from paddock.evaluate.ledger.book import Ledger
from paddock.evaluate.ledger.entry import MISSED
from paddock.evaluate.watching.watch import Watching
from paddock.evaluate.winners.crown import goal_of
from paddock.monitor.watches import Best, best

_SECONDS, _IDLE_SECONDS = 0.5, 2.0  # between two looks, and where nothing has happened for a while
_LATELY_SECONDS = 30.0
_SHARE = 20  # looking takes at most one in so many seconds


class View(Protocol):
    def said(self, text: str) -> None:
        """A watcher has something to tell."""

    def changed(self, one: Evaluation) -> None:
        """An evaluation has come to another state."""

    def stands(self, rows: Sequence[Row]) -> None:
        """How all directories stand now."""

    def close(self) -> None: ...


@dataclass
class Row:
    """One directory."""

    directory: str
    account: Account
    ledger: Ledger
    metric: str = ""
    goal: str = ""
    evaluations: list[Evaluation] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    best: Best | None = None
    last: Evaluation | None = None
    waited: float | None = None  # seconds from found to called, of the evaluation that was called last
    changed: float = 0.0  # when something last happened here
    time: int = -1  # of the ledger's directory

    def __post_init__(self) -> None:
        self._where = str(self.ledger.directory)

    def may_have_changed(self) -> bool:
        """So it is while something waits or runs, and when the ledger's directory has changed."""
        before, self.time = self.time, os.stat(self._where).st_mtime_ns
        return self.time != before or bool(self.counts.get(PENDING) or self.counts.get(RUNNING))

    def look(self, where: Tasks) -> list[Evaluation]:
        """Those that have come to another state since the last look."""
        before = {one.finding.key: one.state for one in self.evaluations}
        self.evaluations = self.account.read(where)
        self.counts = counts(self.evaluations)
        goal = self.goal or goal_of(self.ledger, self.metric, self.goal)
        self.best = best(self.evaluations, self.metric, goal)
        there = [one for one in self.evaluations if one.state != MISSED]
        self.last = there[-1] if there else None
        called = [one for one in self.evaluations if one.result is not None and one.waited is not None]
        latest = max(called, key=lambda one: one.result.started if one.result else 0.0, default=None)
        self.waited = latest.waited if latest is not None else None
        news = [one for one in self.evaluations if before.get(one.finding.key) != one.state]
        if news:
            self.changed = time.monotonic()
        return news


class Follow:
    def __init__(self, watches: Sequence[Watching], view: View, *, silent: bool = False) -> None:
        self.view, self._silent = view, silent
        self._queues: list[str] = []
        self._rows: list[Row] = []
        for one in watches:
            self.add(one)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._follow, name="follow", daemon=True)

    def add(self, one: Watching) -> None:
        rules = one.options.rules
        if one.queue.address not in self._queues:
            self._queues.append(one.queue.address)
        known = next((row for row in self._rows if row.ledger.path == one.ledger.path), None)
        if known is None:
            self._rows.append(Row(one.directory, Account(one.ledger), one.ledger, rules.metric, rules.goal))
        elif not known.metric:  # of another table, for the same directory
            known.metric, known.goal = rules.metric, rules.goal

    def start(self) -> None:
        """What is in the ledgers already is no news."""
        if not self._silent:  # nobody listens
            self._look()
            self.view.stands(self._rows)
            self._thread.start()

    def close(self) -> None:
        """After a last look."""
        self._over.set()
        if self._thread.is_alive():
            self._thread.join()
            self._tell()
        self.view.close()

    def _follow(self) -> None:
        pause = _SECONDS
        while not self._over.wait(pause):
            began = time.monotonic()
            with contextlib.suppress(OSError):  # a disk that is away for a moment
                self._tell()
            lately = max((row.changed for row in self._rows), default=0.0)
            usual = _SECONDS if began - lately < _LATELY_SECONDS else _IDLE_SECONDS
            pause = max(usual, (time.monotonic() - began) * _SHARE)

    def _tell(self) -> None:
        for one in self._look():
            self.view.changed(one)
        self.view.stands(self._rows)

    def _look(self) -> list[Evaluation]:
        rows = [row for row in tuple(self._rows) if row.may_have_changed()]
        where = tasks(self._queues) if rows else None
        return [one for row in rows for one in row.look(where)] if where is not None else []

"""The watches of this minute. A ledger is read again when it has changed, or while something of it is on its way."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from typing import Any

import msgspec

from paddock.evaluate.ledger.account import PENDING, RUNNING, Account, Evaluation, Tasks, counts
from paddock.evaluate.ledger.entry import FAILED, MISSED
from paddock.evaluate.ledger.watches import Watch, watches
from paddock.evaluate.winners.crown import goal_of
from paddock.monitor.now import picture
from paddock.monitor.watches import best
from paddock.record.layout import Home

_SECONDS = 2.0  # between two looks at one whose tasks are on their way
_LIST_SECONDS = 5.0  # between two looks at who watches what


class _Watched:
    def __init__(self, watch: Watch) -> None:
        self.watch = watch
        self._account = Account(watch.ledger)
        self._time, self._looked = -1, -1e9
        self._shown: picture.Watch | None = None

    def look(self, where: Callable[[], Tasks]) -> picture.Watch:
        try:
            mtime = os.stat(self.watch.ledger.directory).st_mtime_ns
        except OSError:
            mtime = -1
        clock, shown = time.monotonic(), self._shown
        moves = shown is None or bool(shown.counts.get(PENDING) or shown.counts.get(RUNNING))
        if shown is None or mtime != self._time or (moves and clock - self._looked > _SECONDS):
            self._time, self._looked = mtime, clock
            shown = self._shown = _shown(self.watch, self._account.read(where()))
        if shown.watched != self.watch.is_watched:
            shown = self._shown = _changed(shown, watched=self.watch.is_watched)
        return shown


class WatchReader:
    def __init__(self, home: Home) -> None:
        self._home = home
        self._watched: dict[str, _Watched] = {}
        self._listed = -1e9

    def look(self, where: Callable[[], Tasks]) -> tuple[picture.Watch, ...]:
        """`where`: says where the evaluations' tasks are, when somebody asks."""
        clock = time.monotonic()
        if clock - self._listed > _LIST_SECONDS:
            self._listed = clock
            known, self._watched = self._watched, {}
            for watch in watches(self._home):
                one = self._watched[watch.id] = known.get(watch.id) or _Watched(watch)
                one.watch = watch
        return tuple(one.look(where) for one in self._watched.values())


def _shown(watch: Watch, evaluations: list[Evaluation]) -> picture.Watch:
    metric, goal = (str(watch.setup.get(name) or "") for name in ("metric", "goal"))
    top = best(evaluations, metric, goal or goal_of(watch.ledger, metric, goal))
    there = [one for one in evaluations if one.state != MISSED]
    failed = [one for one in evaluations if one.state == FAILED]
    finding = top.evaluation.finding if top else None
    return picture.Watch(
        id=watch.id,
        directory=watch.directory,
        watched=watch.is_watched,
        evaluators=tuple(watch.evaluators),
        counts=counts(evaluations),
        best=picture.Best(top.metric, figure(top.value), finding.step, finding.path) if top and finding else None,
        last=there[-1].finding.path if there else "",
        trouble=failed[-1].reason if failed else "",
    )


def _changed(shown: picture.Watch, **new: Any) -> picture.Watch:
    return msgspec.structs.replace(shown, **new)


def figure(value: float | None) -> picture.Figure:
    """As JSON can say it."""
    if value is None or math.isnan(value):
        return None
    return value if math.isfinite(value) else "inf" if value > 0 else "-inf"

"""How a watch stands: its evaluations, the last and the best of them, and all that as JSON."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from paddock.compare.stats import goal_of
from paddock.evaluate.ledger.account import Account, Evaluation, counts, tasks
from paddock.evaluate.ledger.entry import DONE, MISSED
from paddock.evaluate.ledger.watcher import Seen
from paddock.evaluate.ledger.watches import Watch
from paddock.evaluate.winners import crown


class Best(NamedTuple):
    metric: str  # with the evaluator before it: acc/top1
    value: float
    evaluation: Evaluation


def best(evaluations: Iterable[Evaluation], metric: str = "", goal: str = "") -> Best | None:
    """`metric`: a name with or without `eval/<evaluator>/`; else the first one that was returned. NaN is never best."""
    found: Best | None = None
    for one in evaluations:
        if one.state != DONE or one.result is None:
            continue
        for name, value in one.result.values.items():
            full = f"{one.finding.evaluator}/{name}"
            if not isinstance(value, (int, float)) or math.isnan(value):
                continue
            if (metric and metric.removeprefix("eval/") not in (name, full, one.finding.evaluator)) or (
                found and found.metric != full
            ):
                continue
            less = (goal or goal_of(full)) == "min"
            if found is None or (value < found.value if less else value > found.value):
                found = Best(full, value, one)
            break
    return found


class Stands(NamedTuple):
    """A watch and its evaluations."""

    watch: Watch
    evaluations: list[Evaluation]

    @property
    def counts(self) -> dict[str, int]:
        return counts(self.evaluations)

    @property
    def last(self) -> Evaluation | None:
        """The one that was found last, and was there."""
        seen = [one for one in self.evaluations if one.state != MISSED]
        return seen[-1] if seen else None

    @property
    def best(self) -> Best | None:
        metric, goal = (str(self.watch.setup.get(name) or "") for name in ("metric", "goal"))
        return best(self.evaluations, metric, goal or crown.goal_of(self.watch.ledger, metric, goal))


def stands(watch: Watch) -> Stands:
    return Stands(watch, Account(watch.ledger).read(tasks(watch.queues)))


class Standings:
    """For who asks again and again: of each ledger only what is new is read."""

    def __init__(self) -> None:
        self._accounts: dict[Path, tuple[int, Account]] = {}
        self._reading = threading.Lock()

    def of(self, watch: Watch) -> Stands:
        with self._reading:
            directory = watch.ledger.directory
            inode = os.stat(directory).st_ino if directory.exists() else 0  # another one when it was removed meanwhile
            known, account = self._accounts.get(directory, (0, Account(watch.ledger)))
            if known != inode:
                account = Account(watch.ledger)
            self._accounts[directory] = inode, account
            return Stands(watch, account.read(tasks(watch.queues)))


def watcher_json(seen: Seen) -> dict[str, Any]:
    return {
        "watcher": seen.name,
        "host": seen.host,
        "pid": seen.pid,
        "state": seen.state,
        "silence": seen.silence,
        "here": seen.here,
        "detached": seen.facts.detached,
        "log": seen.facts.log or None,
        "started": seen.facts.started or None,
    }


def watch_json(found: Stands) -> dict[str, Any]:
    last, top = found.last, found.best
    return {
        "watch": found.watch.id,
        "directory": found.watch.directory,
        "evaluators": found.watch.evaluators,
        "queues": found.watch.queues,
        "watched": found.watch.is_watched,
        "watchers": [watcher_json(seen) for seen in found.watch.watchers],
        "counts": found.counts,
        "last": evaluation_json(last) if last is not None else None,
        "best": {"metric": top.metric, "value": top.value, **_place(top.evaluation)} if top is not None else None,
    }


def evaluation_json(one: Evaluation) -> dict[str, Any]:
    result = one.result
    return {
        **_place(one),
        "evaluator": one.finding.evaluator,
        "state": one.state,
        "reason": one.reason,
        "values": dict(result.values) if result is not None else {},
        "found": one.finding.found or None,
        "started": (result.started or None) if result is not None else None,
        "ended": (result.ended or None) if result is not None else None,
        "waited": one.waited,
        "took": one.took,
        "task": one.finding.task,
        "run": one.finding.run or None,
    }


def _place(one: Evaluation) -> dict[str, Any]:
    return {"checkpoint": one.finding.path, "step": one.finding.step}

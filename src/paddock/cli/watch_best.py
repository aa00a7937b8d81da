"""Which of a watch's scores is the best, for people to see. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

from paddock.compare.stats import goal_of
from paddock.evaluate.account import Evaluation
from paddock.evaluate.ledger import DONE


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

"""Which of the scores is the best. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import NamedTuple

from paddock.evaluate.account import Evaluation
from paddock.evaluate.ledger import DONE

_LESS = re.compile(
    r"(^|[/_.\-])(\w*loss|err(or)?s?|\w*_error|ppl|perplexity|nll|bpb|bpc|bits_per_byte|wer|cer|ter|m[sa]e|rmse|fid|latency)"
    r"($|[/_.\-@])",
    re.I,
)


class Best(NamedTuple):
    metric: str  # with the evaluator before it: acc/top1
    value: float
    evaluation: Evaluation


def is_less_better(metric: str) -> bool:
    """By its name: a loss, an error or a perplexity."""
    return bool(_LESS.search(metric))


def best(evaluations: Iterable[Evaluation], metric: str = "") -> Best | None:
    """`metric`: a name with or without `eval/<evaluator>/`; else the first one that was returned. NaN is never best."""
    found: Best | None = None
    for one in evaluations:
        if one.state != DONE or one.result is None:
            continue
        for name, value in one.result.values.items():
            full = f"{one.finding.evaluator}/{name}"
            if not isinstance(value, (int, float)) or math.isnan(value):
                continue
            if (metric and metric not in (name, full, f"eval/{full}")) or (found and found.metric != full):
                continue
            if found is None or (value < found.value if is_less_better(full) else value > found.value):
                found = Best(full, value, one)
            break
    return found

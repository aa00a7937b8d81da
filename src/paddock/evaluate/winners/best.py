"""Which checkpoint is the best, by one metric. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from paddock.errors import UsageError
from paddock.evaluate.policy.standing import Standing

PREFIX = "eval/"  # how the scores are called in the training run


class Metric(NamedTuple):
    """What the user calls a metric, bound to the evaluator that returns it."""

    text: str
    evaluator: str
    names: tuple[str, ...]  # under which it may be among the evaluator's numbers

    def value_of(self, numbers: Mapping[str, Any]) -> float | None:
        for name in self.names:
            if name in numbers:
                return _number(numbers[name])
        is_named = self.text.removeprefix(PREFIX) == self.evaluator
        return _number(next(iter(numbers.values()))) if is_named and len(numbers) == 1 else None


class Score(NamedTuple):
    at: Standing
    value: float  # NaN is worse than any number


def bind(text: str, evaluators: Sequence[str]) -> Metric:
    """`eval/accuracy/acc`, `accuracy/acc`; `eval/acc` and `acc` when there is one evaluator only, or when it is its
    name."""
    plain = text.removeprefix(PREFIX)
    for name in sorted(evaluators, key=len, reverse=True):
        if plain == name or plain.startswith(f"{name}/"):
            rest = plain[len(name) + 1 :]
            return Metric(text, name, tuple(dict.fromkeys(part for part in (rest, plain) if part)))
    if len(evaluators) != 1:
        raise UsageError(
            f"Which evaluator returns {text}?", hint=f"Write --metric {PREFIX}{evaluators[0]}/{plain}, or another."
        )
    return Metric(text, evaluators[0], (plain,))


def is_better(value: float, than: float, goal: str, by: float = 0.0) -> bool:
    """By more than `by`. Any number is better than NaN."""
    if math.isnan(value) or math.isnan(than):
        return math.isnan(than) and not math.isnan(value)
    return value - than > by if goal == "max" else than - value > by


def ranked(scores: Iterable[Score], goal: str) -> list[Score]:
    """The best first; of equal ones that which came first in the training."""
    sign = -1.0 if goal == "max" else 1.0
    return sorted(
        scores, key=lambda s: (math.isnan(s.value), 0.0 if math.isnan(s.value) else sign * s.value, s.at.order)
    )


def best(scores: Iterable[Score], goal: str) -> Score | None:
    """None when there is no number yet."""
    first = ranked(scores, goal)[:1]
    return first[0] if first and not math.isnan(first[0].value) else None


def _number(value: Any) -> float:
    """In the ledger, null is what a number that is none came to."""
    return float(value) if isinstance(value, (int, float)) else math.nan

"""Numbers over seeds, and which of a metric's numbers counts. NaN is counted, never averaged and never hidden."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from paddock.errors import UsageError
from paddock.model import MetricStat

STATS = ("best", "last", "min", "max")
GOALS = ("min", "max")

# A metric whose name has one of these words is better when lower; every other one is better when higher.
_LOWER = frozenset({
    "loss", "losses", "error", "errors", "err", "perplexity", "ppl", "mse", "rmse", "mae", "mape", "nll", "nlpd",
    "wer", "cer", "ter", "fid", "kid", "lpips", "bpc", "bpb", "bpd", "eer", "kl", "elapsed", "time", "seconds",
    "latency", "duration", "ms", "memory", "cost", "regret", "divergence", "entropy", "ece", "brier", "hamming",
})  # fmt: skip
_LOWER_PARTS = ("loss", "perplexity", "error")
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def goal_of(metric: str, goals: Mapping[str, str] = {}) -> str:
    """ "min" or "max": what define_metric said, else what the name suggests."""
    base = metric.partition("{")[0]  # acc{split=val} is an acc
    defined = goals.get(metric) or goals.get(base)
    if defined in GOALS:
        return defined
    return _suggested(base)


@lru_cache(4096)
def _suggested(metric: str) -> str:
    words = [word.lower() for word in _WORDS.findall(metric)]
    lower = any(word in _LOWER or any(part in word for part in _LOWER_PARTS) for word in words)
    return "min" if lower else "max"


def best_of(metric: str, stat: MetricStat, goals: Mapping[str, str] = {}) -> float | None:
    return stat.min if goal_of(metric, goals) == "min" else stat.max


def pick(metric: str, stat: MetricStat, which: str, goals: Mapping[str, str] = {}) -> float | None:
    """best, last, min or max of a metric; None is NaN (last) or that there never was a number (the others)."""
    if which == "best":
        return best_of(metric, stat, goals)
    if which not in STATS:
        raise UsageError(f"{which!r} is no way to pick a metric's value.", hint=f"Use one of {', '.join(STATS)}.")
    found: float | None = getattr(stat, which)
    return found


class Summary(NamedTuple):
    """Some numbers in a few. All but the counts are None when there was no number at all."""

    n: int  # numbers, without the NaNs
    nan: int  # NaNs, which none of the others includes
    mean: float | None
    std: float | None  # of a sample (n - 1); None for a single number, which has no spread to speak of
    min: float | None
    max: float | None
    median: float | None
    sem: float | None  # standard error of the mean; None for a single number
    ci95: float | None  # the mean +- this covers the true mean in 95 % of samples (Student's t)


def summarize(values: Iterable[float | None]) -> Summary:
    """None and NaN are counted apart."""
    given = list(values)
    numbers = [float(v) for v in given if v is not None and not math.isnan(v)]
    nan = len(given) - len(numbers)
    if not numbers:
        return Summary(0, nan, None, None, None, None, None, None, None)
    n = len(numbers)
    numbers.sort()
    low, high, median = numbers[0], numbers[-1], (numbers[(n - 1) // 2] + numbers[n // 2]) / 2
    if math.isinf(low) or math.isinf(high):  # no spread around infinity
        mean = math.nan if low == -high else (low if math.isinf(low) else high)
        return Summary(n, nan, mean, None, low, high, median, None, None)
    # Numbers that are the same have no spread: a third of three times 0.1 is not 0.1, and one would read 0.1 ± 1.5e-17.
    mean = low if low == high else math.fsum(numbers) / n
    if n == 1:
        return Summary(1, nan, mean, None, low, high, median, None, None)
    # by hand: statistics.stdev goes through fractions, forty times slower
    std = math.sqrt(math.fsum((v - mean) ** 2 for v in numbers) / (n - 1))
    sem = std / math.sqrt(n)
    return Summary(n, nan, mean, std, low, high, median, sem, sem * student_t95(n - 1))


_T95 = (
    12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281, 2.2010, 2.1788, 2.1604, 2.1448,
    2.1314, 2.1199, 2.1098, 2.1009, 2.0930, 2.0860, 2.0796, 2.0739, 2.0687, 2.0639, 2.0595, 2.0555, 2.0518, 2.0484,
    2.0452, 2.0423,
)  # fmt: skip


def student_t95(freedom: int) -> float:
    """The two-sided 95 % quantile of Student's t; beyond 30 degrees of freedom by its expansion around the normal."""
    if freedom <= len(_T95):
        return _T95[freedom - 1]
    z = 1.959963985
    return z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)

"""What a key names in a run: a field, a config value, a metric's number."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from operator import attrgetter
from time import time
from typing import Any, Final

from paddock.compare.stats import best_of
from paddock.model import RUNNING, MetricStat, RunRow


class _Missing:
    """Not there at all, which is something else than null."""

    def __repr__(self) -> str:
        return "(missing)"

    def __bool__(self) -> bool:
        return False


MISSING: Final = _Missing()

TIME_FIELDS = frozenset({"created", "started", "ended", "seen"})  # seconds since the epoch
DURATION_FIELDS = frozenset({"duration", "age"})  # seconds
STAT_FIELDS = ("last", "min", "max", "best", "step", "count")
RUN_FIELDS = (
    frozenset(RunRow.__struct_fields__) - {"config", "summary", "info", "metrics", "goals", "axes"} | DURATION_FIELDS
)


def lookup(run: RunRow, key: str, now: float | None = None) -> Any:
    """The value of `key` in `run`, or MISSING. A field, `config.`, `summary.`, `last.` ...; else config, else a
    metric's last value, else the summary."""
    return getter(key, now)(run)


Getter = Callable[[RunRow], Any]


def getter(key: str, now: float | None = None) -> Getter:
    """`lookup` of that key, for many runs: the key is understood once."""
    if key in RUN_FIELDS:
        return _field_getter(key, now)
    head, dot, rest = key.partition(".")
    if dot and head == "config":
        inner = _within_getter(rest)
        return lambda run: inner(run.config)
    if dot and head == "summary":
        inner = _within_getter(rest)
        return lambda run: inner(run.summary)
    anywhere = _anywhere_getter(key)
    if dot and head in STAT_FIELDS:
        return lambda run: stat_value(run, rest, head) if rest in run.metrics else anywhere(run)
    return anywhere


def _anywhere_getter(key: str) -> Getter:
    inner = _within_getter(key)

    def get(run: RunRow) -> Any:
        found = inner(run.config)
        if found is MISSING and key in run.metrics:
            return stat_value(run, key, "last")
        return inner(run.summary) if found is MISSING else found

    return get


def _field_getter(key: str, now: float | None) -> Getter:
    if key == "duration":
        return lambda run: duration(run, now)
    if key == "age":
        return lambda run: max(0.0, (time() if now is None else now) - run.created)
    if key == "progress":
        return lambda run: run.progress.fraction if run.progress is not None else None
    return attrgetter(key)


def duration(run: RunRow, now: float | None = None) -> float:
    """Seconds from its start to its end, or to now while it runs, or to its last sign of life."""
    end = run.ended
    if end is None:
        end = (time() if now is None else now) if run.state == RUNNING else run.seen
    return max(0.0, end - (run.created if run.started is None else run.started))


def _within_getter(key: str) -> Callable[[Mapping[str, Any]], Any]:
    """The key itself, or of one dot the two parts, are looked for at once; what else it may be only then."""
    first, dot, rest = key.partition(".")
    if not dot:
        return lambda values: values.get(key, MISSING)

    def get(values: Mapping[str, Any]) -> Any:
        if key not in values and type(inner := values.get(first)) is dict and rest in inner:
            return inner[rest]
        return within(values, key)

    return get


def within(values: Mapping[str, Any], key: str) -> Any:
    """A dotted key in nested mappings; a key that itself holds dots is found too."""
    if key in values:
        return values[key]
    at = key.find(".")
    while at >= 0:
        inner = values.get(key[:at])
        if isinstance(inner, (dict, Mapping)):  # most are a dict, which is found out sooner
            found = within(inner, key[at + 1 :])
            if found is not MISSING:
                return found
        at = key.find(".", at + 1)
    return MISSING


def stat_value(run: RunRow, metric: str, which: str) -> Any:
    """One number of a metric; a last value that was NaN is NaN, an extreme that never was a number is MISSING."""
    stat: MetricStat = run.metrics[metric]
    if which == "last":
        return math.nan if stat.last is None else stat.last
    if which == "step":
        return stat.last_step
    value = best_of(metric, stat, run.goals) if which == "best" else getattr(stat, which)
    return MISSING if value is None else value


def flatten(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Nested mappings as dotted keys; lists and empty mappings are values."""
    for key, value in values.items():
        name = f"{prefix}.{key}" if prefix else str(key)
        if isinstance(value, Mapping) and value:
            yield from flatten(value, name)
        else:
            yield name, value


def metric_names(runs: Iterable[RunRow]) -> list[str]:
    """Every metric that any of the runs logged, those of most runs first."""
    counts: dict[str, int] = {}
    for run in runs:
        for name in run.metrics:
            counts[name] = counts.get(name, 0) + 1
    return sorted(counts, key=lambda name: (-counts[name], name))


def spelled_out(metrics: Iterable[str], runs: Iterable[RunRow]) -> list[str]:
    """The metrics by the names that runs list them by: acc may stand for acc{split=val} and acc{split=test}."""
    known = metric_names(runs)
    found: list[str] = []
    for metric in metrics:
        tagged = [name for name in known if name.startswith(metric + "{")]
        found += [metric] if metric in known or not tagged else tagged
    return list(dict.fromkeys(found))


def text_of(value: Any) -> str:
    """A value as the query language sees it when it is no number."""
    if isinstance(value, str):
        return value
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return " ".join(map(text_of, value))
    if isinstance(value, list):
        return "[" + ", ".join(map(text_of, value)) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {text_of(item)}" for key, item in value.items()) + "}"
    return repr(value) if isinstance(value, float) else str(value)

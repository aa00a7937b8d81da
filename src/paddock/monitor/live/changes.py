"""What changed in rows of runs, as an event says it: fields that are other than before, and nothing else. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from paddock.compare.stats import best_of
from paddock.model import MetricStat, RunRow

_FIELDS = tuple(name for name in RunRow.__struct_fields__ if name not in ("id", "metrics"))


def changed(old: RunRow, new: RunRow) -> dict[str, Any]:
    """The fields of a run that are other than before, and the metrics among them one by one. A metric that is gone (its
    journal was replaced) is null."""
    found: dict[str, Any] = {"id": new.id}
    for name in _FIELDS:
        value = getattr(new, name)
        if value != getattr(old, name):
            found[name] = value
    if new.metrics != old.metrics:
        metrics: dict[str, Any] = dict.fromkeys(old.metrics.keys() - new.metrics.keys())
        for name, stat in new.metrics.items():
            if old.metrics.get(name) != stat:
                metrics[name] = _stat(name, stat, new)
        found["metrics"] = metrics
    return found


def _stat(name: str, stat: MetricStat, row: RunRow) -> dict[str, Any]:
    return {**stat._asdict(), "best": best_of(name, stat, row.goals)}


def told(
    version: int, rows: Iterable[tuple[RunRow | None, RunRow]], removed: Sequence[str]
) -> tuple[list[str], dict[str, Any]]:
    """The ids of runs that are new, and what else is to be said."""
    new = []
    others = []
    for old, row in rows:
        if old is None:
            new.append(row.id)
        else:
            others.append(changed(old, row))
    return new, {"version": version, "changed": others, "removed": list(removed)}

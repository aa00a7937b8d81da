"""Runs that differ only in their seed, as one row: mean, spread and count of each metric."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from paddock.compare import frames
from paddock.compare.fields import MISSING, getter, metric_names
from paddock.compare.select import sort_key, text_of
from paddock.compare.stats import Summary, pick, summarize
from paddock.compare.text import cell, html_table, is_numeric, mean_std, plain_table
from paddock.model import RunRow


@dataclass(frozen=True)
class Group:
    """Runs with the same values of the keys, and what each metric comes to over them."""

    keys: dict[str, Any]  # MISSING where the runs lack the key
    runs: tuple[RunRow, ...]
    metrics: dict[str, Summary]


@dataclass(frozen=True)
class GroupedTable:
    """One row per combination of the keys' values."""

    by: tuple[str, ...]
    metrics: tuple[str, ...]
    stat: str
    groups: tuple[Group, ...]

    def __len__(self) -> int:
        return len(self.groups)

    def __iter__(self) -> Iterator[Group]:
        return iter(self.groups)

    def __getitem__(self, index: int) -> Group:
        return self.groups[index]

    def sort(self, key: str) -> GroupedTable:
        """By a key of the groups, or by a metric's mean; `-key` descending."""
        name, down = key.lstrip("+-"), key.startswith("-")
        judged = [(_rank(group, name), group) for group in self.groups]
        known = sorted((pair for pair in judged if pair[0] is not None), key=lambda pair: pair[0], reverse=down)
        rest = [group for rank, group in judged if rank is None]
        return GroupedTable(self.by, self.metrics, self.stat, tuple([group for _, group in known] + rest))

    def dicts(self) -> list[dict[str, Any]]:
        rows = []
        for group in self.groups:
            row: dict[str, Any] = {key: None if value is MISSING else value for key, value in group.keys.items()}
            row["runs"] = len(group.runs)
            for metric, summary in group.metrics.items():
                row |= {f"{metric}.mean": summary.mean, f"{metric}.std": summary.std, f"{metric}.n": summary.n}
            rows.append(row)
        return rows

    def df(self, prefer: str | None = None) -> Any:
        names = [*self.by, "runs", *(f"{metric}.{part}" for metric in self.metrics for part in ("mean", "std", "n"))]
        return frames.frame(frames.rows_to_columns(self.dicts(), names), prefer)

    def to_pandas(self) -> Any:
        return self.df("pandas")

    def to_polars(self) -> Any:
        return self.df("polars")

    def cells(self) -> tuple[list[str], list[list[str]], list[bool]]:
        """Headers, rows of text, and which columns stand on the right."""
        headers = [*self.by, "runs", *(f"{metric} ({self.stat})" for metric in self.metrics)]
        rows = [
            [
                *(cell(value) for value in group.keys.values()),
                str(len(group.runs)),
                *(_with_n(group, metric) for metric in self.metrics),
            ]
            for group in self.groups
        ]
        right = [is_numeric([group.keys[key] for group in self.groups]) for key in self.by]
        return headers, rows, [*right, True, *(True for _ in self.metrics)]

    def __repr__(self) -> str:
        return plain_table(*self.cells())

    def _repr_html_(self) -> str:
        return html_table(*self.cells())


def _with_n(group: Group, metric: str) -> str:
    """The count is said where it is not that of the group."""
    summary = group.metrics[metric]
    text = mean_std(summary)
    return text if summary.n + summary.nan == len(group.runs) or not text else f"{text} (n={summary.n})"


def _rank(group: Group, name: str) -> Any:
    if name in group.metrics:
        return sort_key(group.metrics[name].mean)
    if name == "runs":
        return (0, len(group.runs), "")
    return sort_key(group.keys.get(name, MISSING))


def group_runs(
    runs: Sequence[RunRow], by: Sequence[str], metrics: Sequence[str] | None = None, stat: str = "best"
) -> GroupedTable:
    """Put runs together that agree in every key of `by`; groups in the order of their first run."""
    names = tuple(metrics) if metrics is not None else tuple(metric_names(runs))
    buckets: dict[tuple[str, ...], list[RunRow]] = {}
    getters = [getter(key) for key in by]
    for run in runs:
        values = [get(run) for get in getters]
        buckets.setdefault(tuple(map(_identity, values)), []).append(run)
    groups = []
    for members in buckets.values():
        keys = {key: get(members[0]) for key, get in zip(by, getters, strict=True)}
        found = {
            name: summarize(pick(name, run.metrics[name], stat, run.goals) for run in members if name in run.metrics)
            for name in names
        }
        groups.append(Group(keys, tuple(members), found))
    return GroupedTable(tuple(by), names, stat, tuple(groups))


def _identity(value: Any) -> str:
    """Equal for values that configs call equal: 1 and 1.0 are, 1 and "1" are not."""
    if value is MISSING:
        return "missing"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return f"number {float(value)!r}"
    return f"{type(value).__name__} {text_of(value)}"

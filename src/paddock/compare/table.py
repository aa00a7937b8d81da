"""`paddock.runs()`: a table of runs. Each method returns a new table; nothing is fetched before it is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from time import time
from typing import Any, overload

from paddock.compare import frames
from paddock.compare.curve import Curve, curve
from paddock.compare.diff import DiffRow, diff, differing_keys
from paddock.compare.fields import MISSING, RUN_FIELDS, STAT_FIELDS, flatten, lookup, metric_names, spelled_out
from paddock.compare.grouped import GroupedTable, group_runs
from paddock.compare.select import select, sort_runs
from paddock.compare.source import Source, source
from paddock.compare.text import field_cell, html_table, is_numeric, plain_table
from paddock.compare.view import RunView, check_metric, resolve
from paddock.errors import NotFound
from paddock.model import RunRow

_SHOWN_ROWS = 50  # of a table's repr
_FRAME_FIELDS = ("id", "name", "project", "group", "tags", "state", "reason", "created", "duration", "star", "bug")
_REPR_FIELDS = ("id", "name", "project", "state", "created", "duration")


def runs(filter: str = "", home: str | Path | None = None, **fields: Any) -> RunTable:
    """The runs of a home, newest first.

    `filter` is a query (see `paddock.compare.grammar`): "state=finished lr<0.01 tag:base". A keyword names a key and
    the value it must have, or several: runs(project="mnist", lr=[0.1, 0.01]).
    """
    found = source(home)
    with found.catalog() as catalog:
        catalog.refresh()
        rows = catalog.runs()
    chosen = select(rows, filter)  # the catalog's order is newest first
    for key, wanted in fields.items():
        values = list(wanted) if isinstance(wanted, (list, tuple, set, frozenset)) else [wanted]
        chosen = [row for row in chosen if _has_value(row, key, values)]
    return RunTable(chosen, found)


def run_view(name: str, home: str | Path | None = None) -> RunView:
    """One run, by id, by the beginning of an id, or by name."""
    found = source(home)
    with found.catalog() as catalog:
        catalog.refresh()
        return RunView(catalog.run(name), found)


def _has_value(row: RunRow, key: str, values: list[Any]) -> bool:
    found = lookup(row, key)
    if key == "tags":
        return any(value in found for value in values)
    return any(found == value and isinstance(found, bool) is isinstance(value, bool) for value in values)


class RunTable(Sequence[RunView]):
    """Runs in an order, and the columns to show of them. A value: every method returns a changed copy."""

    __slots__ = ("_columns", "_source", "rows")

    def __init__(self, rows: Iterable[RunRow], source: Source, columns: Sequence[str] | None = None) -> None:
        self.rows = tuple(rows)
        self._source = source
        self._columns = tuple(columns) if columns is not None else None

    def filter(self, query: str) -> RunTable:
        return self._with(select(self.rows, query))

    def sort(self, *keys: str) -> RunTable:
        """By each key in turn, `-key` descending: sort("-best.acc", "created")."""
        self._check_keys(key.lstrip("+-") for key in keys)
        return self._with(sort_runs(self.rows, *keys))

    def select(self, *columns: str | Sequence[str]) -> RunTable:
        """Show these columns: keys of the query language."""
        names = [name for item in columns for name in ([item] if isinstance(item, str) else item)]
        self._check_keys(names)
        return RunTable(self.rows, self._source, names)

    def group(self, *by: str | Sequence[str], metrics: Sequence[str] | None = None, stat: str = "best") -> GroupedTable:
        """Mean, spread and count of each metric over the runs that agree in the keys of `by`; without keys, in every
        config key that differs except the seed."""
        keys = [name for item in by for name in ([item] if isinstance(item, str) else item)]
        self._check_keys(keys)
        for metric in metrics or ():
            check_metric(metric, list(self.rows))
        if not keys:
            keys = [f"config.{key}" for key in differing_keys([row.config for row in self.rows], seeds=False)]
        return group_runs(self.rows, keys, spelled_out(metrics, self.rows) if metrics else None, stat)

    def series(
        self, metric: str, *, rank: int | None = None, tags: Mapping[str, Any] | None = None
    ) -> dict[str, Curve]:
        """One metric of every run that has it, by run id."""
        if self.rows:
            check_metric(metric, list(self.rows))
        with self._source.catalog() as catalog:
            name, chosen = resolve(catalog, self.rows, metric, tags)
            found = catalog.series(self.ids, name, rank=rank, tags=chosen)
        return {run_id: curve(found[run_id]) for run_id in self.ids if run_id in found}

    def diff(self, *, every: bool = False) -> list[DiffRow]:
        """The config keys in which the runs differ."""
        return diff([row.config for row in self.rows], every=every)

    @property
    def ids(self) -> list[str]:
        return [row.id for row in self.rows]

    @property
    def columns(self) -> list[str]:
        """The columns in force: those selected, else the main fields, every config key and every metric's last value
        and best."""
        if self._columns is not None:
            return list(self._columns)
        config = dict.fromkeys(f"config.{key}" for row in self.rows for key, _ in flatten(row.config))
        metrics = [f"{which}.{name}" for name in metric_names(self.rows) for which in ("last", "best")]
        return [*_FRAME_FIELDS, *config, *metrics]

    def column(self, key: str) -> list[Any]:
        """One value per run, None where a run has none."""
        return [None if value is MISSING else value for value in self._values(key)]

    def dicts(self) -> list[dict[str, Any]]:
        names = self.columns
        columns = [self.column(name) for name in names]
        return [dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True)]

    def df(self, prefer: str | None = None) -> Any:
        """A data frame by pandas or polars: by `prefer`, else the one in use, else the one installed."""
        return frames.frame({name: self._values(name) for name in self.columns}, prefer)

    def to_pandas(self) -> Any:
        return self.df("pandas")

    def to_polars(self) -> Any:
        return self.df("polars")

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[RunView]:
        return (RunView(row, self._source) for row in self.rows)

    @overload
    def __getitem__(self, index: int | str) -> RunView: ...
    @overload
    def __getitem__(self, index: slice) -> RunTable: ...
    def __getitem__(self, index: int | str | slice) -> RunView | RunTable:
        """By position, by slice, or by id or name."""
        if isinstance(index, slice):
            return self._with(self.rows[index])
        if isinstance(index, str):
            for row in self.rows:
                if index in (row.id, row.name):
                    return RunView(row, self._source)
            raise KeyError(index)
        return RunView(self.rows[index], self._source)

    def __repr__(self) -> str:
        if not self.rows:
            return "No runs."
        rest = len(self.rows) - _SHOWN_ROWS
        return plain_table(*self._cells()) + (f"\n... and {rest} more" if rest > 0 else "")

    def _repr_html_(self) -> str:
        if not self.rows:
            return "<p>No runs.</p>"
        rest = len(self.rows) - _SHOWN_ROWS
        return html_table(*self._cells()) + (f"<p>... and {rest} more</p>" if rest > 0 else "")

    def _cells(self) -> tuple[list[str], list[list[str]], list[bool]]:
        shown = self.rows[:_SHOWN_ROWS]
        names = list(self._columns) if self._columns is not None else self._short_columns()
        now = time()
        values = [[lookup(row, name, now) for row in shown] for name in names]
        text = [[field_cell(name, v, now) for v in column] for name, column in zip(names, values, strict=True)]
        right = [is_numeric(column) for column in values]
        headers = [name.removeprefix("config.").removeprefix("last.") for name in names]
        return headers, [list(row) for row in zip(*text, strict=True)], right

    def _short_columns(self) -> list[str]:
        config = [f"config.{key}" for key in differing_keys([row.config for row in self.rows[:_SHOWN_ROWS]])]
        return [*_REPR_FIELDS, *config[:8], *(f"last.{name}" for name in metric_names(self.rows)[:6])]

    def _values(self, key: str) -> list[Any]:
        now = time()
        return [lookup(row, key, now) for row in self.rows]

    def _with(self, rows: Iterable[RunRow]) -> RunTable:
        return RunTable(rows, self._source, self._columns)

    def _check_keys(self, keys: Iterable[str]) -> None:
        check_keys(keys, self.rows)


def check_keys(keys: Iterable[str], rows: Sequence[RunRow]) -> None:
    """Raise NotFound for a key that no run has: a typing error must not look like an empty column."""
    for key in keys:
        if not rows or key in RUN_FIELDS or any(lookup(row, key) is not MISSING for row in rows):
            continue
        head, _, rest = key.partition(".")
        if head in STAT_FIELDS and rest:
            check_metric(rest, list(rows))
            continue  # it was logged, but never as a number
        bare = key.removeprefix("config.")
        known = {name for row in rows for name, _ in flatten(row.config)} | RUN_FIELDS | set(metric_names(rows))
        near = get_close_matches(bare, sorted(known), 3, 0.5)
        hint = f"Did you mean {' or '.join(map(repr, near))}?" if near else "`paddock show RUN` lists a run's keys."
        raise NotFound(f"None of the {len(rows)} runs has {key!r}.", hint=hint)

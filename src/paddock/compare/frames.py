"""Columns as data frames, by pandas or polars, whichever is installed. Neither is needed for anything else."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any

from paddock.compare.fields import MISSING, text_of
from paddock.errors import MissingExtra, UsageError

LIBRARIES = ("pandas", "polars")


def frame(columns: Mapping[str, Any], prefer: str | None = None) -> Any:
    """A data frame: by `prefer` if given, else by what the program already uses, else by what is installed."""
    library = choose(prefer)
    return to_pandas(columns) if library == "pandas" else to_polars(columns)


def choose(prefer: str | None = None) -> str:
    if prefer is not None:
        if prefer not in LIBRARIES:
            raise UsageError(f"There are no data frames by {prefer!r}.", hint="Use 'pandas' or 'polars'.")
        if find_spec(prefer) is None:
            raise MissingExtra(f"A data frame by {prefer}", prefer)
        return prefer
    for library in LIBRARIES:
        if library in sys.modules:
            return library
    for library in LIBRARIES:
        if find_spec(library) is not None:
            return library
    raise MissingExtra("A data frame", "pandas")


def to_pandas(columns: Mapping[str, Any]) -> Any:
    try:
        import pandas
    except ImportError:
        raise MissingExtra("A data frame by pandas", "pandas") from None
    return pandas.DataFrame({name: _pandas_column(values) for name, values in columns.items()})


def to_polars(columns: Mapping[str, Any]) -> Any:
    try:
        import polars
    except ImportError:
        raise MissingExtra("A data frame by polars", "polars") from None
    return polars.DataFrame([_polars_column(polars, name, values) for name, values in columns.items()])


def to_numpy(values: Any) -> Any:
    try:
        import numpy
    except ImportError:
        raise MissingExtra("An array", "pandas") from None
    # through a view of the memory; the copy lets the array outlive, and be changed apart from, the value it came from
    return numpy.array(values)


def _pandas_column(values: Any) -> Any:
    if not isinstance(values, list):
        return to_numpy(values)
    return [None if value is MISSING else _simple(value) for value in values]


def _polars_column(polars: Any, name: str, values: Any) -> Any:
    if not isinstance(values, list):
        return polars.Series(name, to_numpy(values))
    simple = [None if value is MISSING else _simple(value) for value in values]
    kinds = {type(value) for value in simple if value is not None}
    if len(kinds) > 1 and not kinds <= {int, float}:  # a column of polars has one type; a config key may not
        simple = [None if value is None else text_of(value) for value in simple]
    return polars.Series(name, simple, strict=False)


_PLAIN = frozenset({str, int, float, bool, type(None)})


def _simple(value: Any) -> Any:
    if type(value) in _PLAIN:
        return value
    if isinstance(value, (list, dict)):
        return text_of(value)
    return " ".join(value) if isinstance(value, tuple) else value


def rows_to_columns(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> dict[str, list[Any]]:
    return {name: [row.get(name, MISSING) for row in rows] for name in names}

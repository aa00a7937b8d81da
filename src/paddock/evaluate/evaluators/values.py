"""What an evaluator returned, as metrics: flat names and numbers; and the rest, which is kept beside them. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

SCORE = "score"  # the name of a bare number


class Values(NamedTuple):
    numbers: dict[str, int | float]
    others: dict[str, Any]


def values_of(found: Any) -> Values:
    """A dict (nested ones flatten by `/`), a number, or nothing. Numbers of numpy and torch are numbers."""
    numbers: dict[str, int | float] = {}
    others: dict[str, Any] = {}
    if found is None:
        return Values(numbers, others)
    for name, value in _flat(found if isinstance(found, Mapping) else {SCORE: found}, ""):
        number = number_of(value)
        if number is None:
            others[name] = value
        else:
            numbers[name] = number
    return Values(numbers, others)


def _flat(values: Mapping[Any, Any], prefix: str) -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for key, value in values.items():
        if isinstance(value, Mapping):
            found += _flat(value, f"{prefix}{key}/")
        else:
            found.append((f"{prefix}{key}", value))
    return found


def number_of(value: Any) -> int | float | None:
    """None when it is none, or one that is too large for everybody who reads it later."""
    item = getattr(value, "item", None)
    if callable(item):
        try:
            value = item()
        except Exception:  # an array of several
            return None
    if not isinstance(value, (bool, int, float)):
        return None
    if isinstance(value, float) or -(2**63) <= value < 2**63:
        return value
    try:
        return float(value)
    except OverflowError:
        return None

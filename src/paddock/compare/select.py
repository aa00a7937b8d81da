"""Which runs does a query mean? The language is in `grammar`."""

from __future__ import annotations

from collections.abc import Iterable
from operator import itemgetter
from time import time
from typing import Any

from paddock.compare.fields import MISSING, lookup, text_of
from paddock.compare.grammar import EVERYTHING, All, Any_, Compare, Has, Not, Query, Value, parse
from paddock.compare.moments import Moment
from paddock.compare.patterns import Pattern
from paddock.model import RunRow

__all__ = ["EVERYTHING", "Query", "fits", "parse", "select", "sort_key", "sort_runs", "text_of"]


def select(runs: Iterable[RunRow], query: str | Query, now: float | None = None) -> list[RunRow]:
    now = time() if now is None else now
    tree = parse(query, now) if isinstance(query, str) else query
    if tree == EVERYTHING:
        return list(runs)
    return [run for run in runs if fits(run, tree, now)]


def fits(run: RunRow, query: Query, now: float | None = None) -> bool:
    match query:
        case All(items):
            return all(fits(run, item, now) for item in items)
        case Any_(items):
            return any(fits(run, item, now) for item in items)
        case Not(item):
            return not fits(run, item, now)
        case Has(key):
            return lookup(run, key, now) is not MISSING
        case Compare(key, op, values):
            found = lookup(run, key, now)
            if found is MISSING:
                return False
            several = found if isinstance(found, tuple) and key == "tags" else (found,)
            return any(_holds(one, op, value) for one in several for value in values)


def _holds(found: Any, op: str, value: Value) -> bool:
    meaning = value.meaning
    if isinstance(meaning, Pattern):
        return meaning.found_in(text_of(found))
    if isinstance(meaning, Moment):
        return found is not None and _in_time(float(found), op, meaning)
    if _is_number(found) and _is_number(meaning):
        if meaning != meaning:  # NaN; math.isnan fails for a whole number of 400 digits
            return op == "=" and bool(found != found)
        return _ordered(found, op, meaning)
    if isinstance(found, bool) or found is None:
        typed = text_of(meaning) if meaning is None or isinstance(meaning, bool) else value.text
        return _ordered(text_of(found), op, typed) if op == "=" else False
    return _ordered(text_of(found), op, value.text)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _in_time(found: float, op: str, moment: Moment) -> bool:
    match op:
        case "=":
            return moment.start <= found < moment.end
        case "<":
            return found < moment.start
        case "<=":
            return found < moment.end or found == moment.start
        case ">":
            return found >= moment.end and found > moment.start
    return found >= moment.start


def _ordered(left: Any, op: str, right: Any) -> bool:
    match op:
        case "=":
            return bool(left == right)
        case "<":
            return bool(left < right)
        case "<=":
            return bool(left <= right)
        case ">":
            return bool(left > right)
    return bool(left >= right)


def sort_runs(runs: Iterable[RunRow], *keys: str, now: float | None = None) -> list[RunRow]:
    """Sorted by each key in turn; `-key` descending. Runs without the key, or with NaN there, come last."""
    found = list(runs)
    now = time() if now is None else now
    for key in reversed(keys):
        down, name = key.startswith("-"), key.lstrip("+-")
        judged = [(sort_key(lookup(run, name, now)), run) for run in found]
        known = sorted((pair for pair in judged if pair[0] is not None), key=itemgetter(0), reverse=down)
        found = [run for _, run in known] + [run for rank, run in judged if rank is None]
    return found


def sort_key(value: Any) -> tuple[int, float, str] | None:
    """Numbers before texts; None for what has no place in an order."""
    if value is MISSING or value is None or value != value:
        return None
    if isinstance(value, (int, float)):
        return (0, float(value), "")
    return (1, 0.0, text_of(value))

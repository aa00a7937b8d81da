"""Which runs does a query mean? The language is in `grammar`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from operator import eq, ge, gt, itemgetter, le, lt
from time import time
from typing import Any

from paddock.compare.fields import MISSING, getter, text_of
from paddock.compare.grammar import EVERYTHING, All, Any_, Compare, Has, Not, Query, Value, parse
from paddock.compare.moments import Moment
from paddock.compare.patterns import Pattern
from paddock.model import RunRow

__all__ = ["EVERYTHING", "Query", "fits", "parse", "select", "sort_key", "sort_runs", "text_of"]


# A query is made into a judge once: a hundred thousand runs are then asked by it, not each of them by the query.
Judge = Callable[[RunRow], bool]
_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {"=": eq, "<": lt, "<=": le, ">": gt, ">=": ge}


def select(runs: Iterable[RunRow], query: str | Query, now: float | None = None) -> list[RunRow]:
    now = time() if now is None else now
    tree = parse(query, now) if isinstance(query, str) else query
    found = list(runs)
    for item in tree.items if isinstance(tree, All) else (tree,):
        found = list(filter(judge(item, now), found))
    return found


def fits(run: RunRow, query: Query, now: float | None = None) -> bool:
    return judge(query, now)(run)


def judge(query: Query, now: float | None = None) -> Judge:
    match query:
        case All(items):
            return _all([judge(item, now) for item in items])
        case Any_(items):
            return _any([judge(item, now) for item in items])
        case Not(item):
            inner = judge(item, now)
            return lambda run: not inner(run)
        case Has(key):
            there = getter(key, now)
            return lambda run: there(run) is not MISSING
        case Compare(key, op, values):
            return _comparing(getter(key, now), key == "tags", [_test(op, value) for value in values])


# Loops: a generator for each run takes longer than what it asks.
def _all(judges: list[Judge]) -> Judge:
    def fitting(run: RunRow) -> bool:
        for one in judges:  # noqa: SIM110
            if not one(run):
                return False
        return True

    return fitting


def _any(judges: list[Judge]) -> Judge:
    def fitting(run: RunRow) -> bool:
        for one in judges:  # noqa: SIM110
            if one(run):
                return True
        return False

    return fitting


def _comparing(get: Callable[[RunRow], Any], several: bool, tests: list[Callable[[Any], bool]]) -> Judge:
    """Any value that was found, in any way that was asked for."""

    def fitting(run: RunRow) -> bool:
        found = get(run)
        if found is MISSING:
            return False
        each = found if several and isinstance(found, tuple) else (found,)
        return any(test(one) for one in each for test in tests)

    def fits_the_only(run: RunRow) -> bool:
        found = get(run)
        return found is not MISSING and only(found)

    only = tests[0]
    return fitting if several or len(tests) > 1 else fits_the_only


def _test(op: str, value: Value) -> Callable[[Any], bool]:
    meaning, text = value.meaning, value.text
    if isinstance(meaning, Pattern):
        return lambda found: meaning.found_in(text_of(found))
    if isinstance(meaning, Moment):
        return lambda found: found is not None and _in_time(float(found), op, meaning)
    holds = _OPERATORS[op]
    number = _is_number(meaning)
    no_number = number and meaning != meaning  # NaN; math.isnan fails for a whole number of 400 digits
    typed = text_of(meaning) if meaning is None or isinstance(meaning, bool) else text

    def test(found: Any) -> bool:
        if isinstance(found, str):
            return holds(found, text)
        if found is None or isinstance(found, bool):
            return op == "=" and text_of(found) == typed
        if no_number and isinstance(found, (int, float)):
            return op == "=" and bool(found != found)
        if number and isinstance(found, (int, float)):
            return holds(found, meaning)
        return holds(text_of(found), text)

    return test


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


def sort_runs(runs: Iterable[RunRow], *keys: str, now: float | None = None) -> list[RunRow]:
    """Sorted by each key in turn; `-key` descending. Runs without the key, or with NaN there, come last."""
    found = list(runs)
    now = time() if now is None else now
    for key in reversed(keys):
        down, name = key.startswith("-"), key.lstrip("+-")
        found = _sorted(found, getter(name, now), down)
    return found


def _sorted(runs: list[RunRow], get: Callable[[RunRow], Any], down: bool) -> list[RunRow]:
    """As `sort_key` says; numbers and texts each by themselves, since pairs of them take four times as long."""
    numbers: list[tuple[float, RunRow]] = []
    texts: list[tuple[str, RunRow]] = []
    rest: list[RunRow] = []
    for run in runs:
        rank = sort_key(get(run))
        if rank is None:
            rest.append(run)
        elif rank[0] == 0:
            numbers.append((rank[1], run))
        else:
            texts.append((rank[2], run))
    numbers.sort(key=itemgetter(0), reverse=down)
    texts.sort(key=itemgetter(0), reverse=down)
    known = [*texts, *numbers] if down else [*numbers, *texts]
    return [run for _, run in known] + rest


def sort_key(value: Any) -> tuple[int, float, str] | None:
    """Numbers before texts; None for what has no place in an order."""
    if value is MISSING or value is None or value != value:
        return None
    if isinstance(value, (int, float)):
        try:
            return (0, float(value), "")
        except OverflowError:  # a whole number of 400 digits
            return (0, math.inf if value > 0 else -math.inf, "")
    return (1, 0.0, text_of(value))

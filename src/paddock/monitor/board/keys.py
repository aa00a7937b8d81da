"""What runs can be filtered, sorted and grouped by: the keys that there are."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct

from paddock.compare.fields import RUN_FIELDS, flatten
from paddock.compare.select import text_of
from paddock.compare.stats import goal_of
from paddock.model import RunRow
from paddock.monitor.board.orders import chosen, kept, rows_of
from paddock.monitor.http.route import Call, Route

LOOKED_AT = 5000  # runs, the newest: what older ones had besides can be typed
MOST_VALUES = 100  # are counted
MOST_KEYS = 2000


class KeyParams(Struct, frozen=True):
    q: Annotated[str, Meta(description="Which runs, in the query language of `paddock ls`.", max_length=10_000)] = ""


class ConfigKey(Struct, frozen=True):
    """How many of the runs have it, and how many values it has among them (100: or more)."""

    key: str
    runs: int
    values: int


class MetricName(Struct, frozen=True):
    name: str
    runs: int
    goal: str


class KeyList(Struct, frozen=True):
    """Of the newest `looked_at` runs that fit."""

    version: int
    looked_at: int
    fields: list[str]
    config: list[ConfigKey]
    metrics: list[MetricName]


def keys(call: Call) -> KeyList:
    house, params = call.house, call.params
    house.fresh()

    def make() -> KeyList:
        rows = rows_of(house, chosen(house, params.q)[:LOOKED_AT])
        return KeyList(house.version, len(rows), sorted(RUN_FIELDS), _config(rows), _metrics(rows))

    found: KeyList = kept(house).get(("keys", params.q), house.version, make).value
    return found


def _config(rows: list[RunRow]) -> list[ConfigKey]:
    count: dict[str, int] = {}
    values: dict[str, set[Any]] = {}
    for row in rows:
        for key, value in flatten(row.config):
            count[key] = count.get(key, 0) + 1
            known = values.setdefault(key, set())
            if len(known) < MOST_VALUES:
                known.add(text_of(value))
    found = [ConfigKey(key, count[key], len(values[key])) for key in count]
    return sorted(found, key=lambda one: (one.values == 1, -one.runs, one.key))[:MOST_KEYS]


def _metrics(rows: list[RunRow]) -> list[MetricName]:
    count: dict[str, int] = {}
    goals: dict[str, str] = {}
    for row in rows:
        for name in row.metrics:
            count[name] = count.get(name, 0) + 1
            goals.setdefault(name, goal_of(name, row.goals))
    found = [MetricName(name, n, goals[name]) for name, n in count.items()]
    return sorted(found, key=lambda one: (-one.runs, one.name))[:MOST_KEYS]


ROUTES = [
    Route("GET", "/api/v1/keys", keys, "What runs can be sorted and grouped by.", KeyParams, answer=KeyList),
]

"""Runs as columns: a window of the table that fits a query, as few bytes as it takes."""

from __future__ import annotations

from time import monotonic, time
from typing import Annotated, Any

from msgspec import Meta, Struct

from paddock.compare.fields import MISSING, getter
from paddock.monitor.board.orders import ordered, rows_of
from paddock.monitor.http.route import Call, Route

Keys = Annotated[
    tuple[str, ...],
    Meta(
        description="A key of the query language, or several with commas (`\\,` is one in a name); repeatable.",
        max_length=200,
    ),
]


class TableParams(Struct, frozen=True):
    q: Annotated[str, Meta(description="Which runs, in the query language of `paddock ls`.", max_length=10_000)] = ""
    sort: Annotated[tuple[str, ...], Meta(description="A key, `-key` descending; repeatable. Newest first else.")] = ()
    column: Keys = ()
    limit: Annotated[int, Meta(ge=0, le=100_000)] = 200
    offset: Annotated[int, Meta(ge=0, lt=2**31)] = 0


class Table(Struct, frozen=True):
    """`total` runs fit the query; `ids` are those of this window, and each column has a value for each of them: null
    where a run has none. Which runs fit, and their order, may be older than the version: `renewed` says in how many
    seconds both are looked for again, and is null when they are of now."""

    version: int
    total: int
    offset: int
    renewed: float | None
    ids: list[str]
    columns: dict[str, list[Any]]


def keys_of(given: tuple[str, ...]) -> list[str]:
    """A metric may have a comma in its name (`acc{split=val,top=5}`), so that only some commas part two keys;
    `\\,` is a comma that parts nothing."""
    found: list[str] = []
    for item in given:
        depth, word = 0, ""
        for char in item:
            depth += (char == "{") - (char == "}")
            if char == "," and word.endswith("\\"):
                word = f"{word[:-1]},"
            elif char == "," and depth <= 0:
                found.append(word)
                word = ""
            else:
                word += char
        found.append(word)
    return list(dict.fromkeys(word.strip() for word in found if word.strip()))


def table(call: Call) -> Table:
    house, params, now = call.house, call.params, time()
    house.fresh()
    version = house.version
    found = ordered(house, params.q, params.sort)
    ids = found.value
    rows = rows_of(house, ids[params.offset : params.offset + params.limit])
    getters = {key: getter(key, now) for key in keys_of(params.column)}
    columns = {key: [_shown(get(row)) for row in rows] for key, get in getters.items()}
    renewed = None if found.version >= version else max(0.0, found.due - monotonic())
    return Table(version, len(ids), params.offset, renewed, [row.id for row in rows], columns)


def _shown(value: Any) -> Any:
    return None if value is MISSING else value


ROUTES = [
    Route("GET", "/api/v1/table", table, "A window of the table of runs, as columns.", TableParams, answer=Table),
]

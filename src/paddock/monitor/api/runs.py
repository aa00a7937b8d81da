"""Runs: listed by a query, and one by one."""

from __future__ import annotations

from time import time
from typing import Annotated, Any

from msgspec import Meta, Struct

from paddock.compare.fields import lookup
from paddock.compare.select import parse, select, sort_runs
from paddock.compare.table import check_keys
from paddock.monitor.api.shapes import Detail, RunList
from paddock.monitor.http import encoding
from paddock.monitor.http.route import Call, Reply, Route, unchanged

_KINDS = ("mark", "alert", "artifact", "use", "end", "exit", "file", "image", "table", "media", "note", "runtime")


class ListParams(Struct, frozen=True):
    q: Annotated[str, Meta(description="Which runs, in the query language of `paddock ls`.", max_length=10_000)] = ""
    sort: Annotated[tuple[str, ...], Meta(description="A key, `-key` descending; repeatable. Newest first else.")] = ()
    columns: Annotated[str, Meta(description="Keys, separated by commas, instead of whole runs.")] = ""
    limit: Annotated[int, Meta(ge=0, le=100_000)] = 1000
    offset: Annotated[int, Meta(ge=0, lt=2**31)] = 0


def runs(call: Call) -> Reply:
    house, params, now = call.house, call.params, time()
    house.fresh()
    version = house.version  # before the rows, which may be newer, but never older
    tag = call.tag(version)
    timeless = not params.q and not params.sort and not params.columns  # a query may ask how long ago something was
    if timeless and call.knows(tag):
        return unchanged(tag)
    found = house.entries()
    if not timeless:
        found = _chosen(found, params, now)
    page = found[params.offset : params.offset + params.limit]
    columns = [name.strip() for name in params.columns.split(",") if name.strip()]
    if columns:
        check_keys(columns, [entry.row for entry in house.entries()])
        data = [encoding.encode({name: lookup(entry.row, name, now) for name in columns}) for entry in page]
    else:
        data = [entry.json for entry in page]
    hidden = encoding.encode([run_id for roll in house.rolls for run_id in roll.unreadable])
    kind = b"rows" if columns else b"runs"
    head = b'{"version":%d,"total":%d,"unreadable":%b,"%b":[' % (version, len(found), hidden, kind)
    return Reply(head + b",".join(data) + b"]}", headers={"etag": tag} if timeless else {})


def _chosen(entries: list[Any], params: ListParams, now: float) -> list[Any]:
    tree = parse(params.q, now)
    keys = [key for item in params.sort for key in item.split(",") if key]
    rows = [entry.row for entry in entries]
    check_keys([key.lstrip("+-") for key in keys], rows)
    by_id = {entry.row.id: entry for entry in entries}
    return [by_id[row.id] for row in sort_runs(select(rows, tree, now), *keys, now=now)]


def run(call: Call) -> Reply:
    house = call.house
    house.fresh()
    version = house.version  # before the row: an old one under a new tag would be taken for the newest ever after
    found = house.find(call.path["run"])
    row = found.entry.row
    tag = call.tag(row.id, version)
    if call.knows(tag):
        return unchanged(tag)
    catalog = house.catalog(found.home)
    records: dict[str, list[dict[str, Any]]] = {kind: [] for kind in _KINDS}
    for record in catalog.records(row.id, _KINDS):
        records[record["k"]].append(record)
    children = [entry.row for entry in house.entries() if entry.row.parent == row.id]
    rest = {
        "home": str(found.home.path),
        "facts": catalog.facts(row.id),
        "writers": catalog.writers(row.id),
        "children": [{"id": c.id, "name": c.name, "project": c.project, "state": c.state} for c in children],
        "records": records,
    }
    return Reply(b'{"run":%b,%b' % (found.entry.json, encoding.encode(rest)[1:]), headers={"etag": tag})


ROUTES = [
    Route("GET", "/api/v1/runs", runs, "Runs with their last values, newest first.", ListParams, answer=RunList),
    Route("GET", "/api/v1/runs/{run}", run, "Everything about one run.", answer=Detail),
]

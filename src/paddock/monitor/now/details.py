"""All about one run, for whoever looks at it closely."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import msgspec

from paddock.catalog.catalog import Catalog
from paddock.compare.fields import flatten
from paddock.compare.text import cell
from paddock.errors import UsageError
from paddock.model import RunRow
from paddock.monitor.now.picture import Figure
from paddock.monitor.now.watches import figure

CURVES, POINTS = 6, 120
OUTPUT_BYTES, OUTPUT_LINES = 16 << 10, 100


class Metric(msgspec.Struct, frozen=True):
    name: str
    last: Figure
    step: int
    min: Figure
    max: Figure
    count: int
    curve: tuple[Figure, ...] = ()  # means of equal shares of its points


class Member(msgspec.Struct, frozen=True):
    """A process of the run."""

    name: str
    role: str
    host: str
    pid: int
    rank: int | None
    attempt: int
    state: str


class Details(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    name: str
    path: str = ""
    command: tuple[str, ...] = ()
    notes: str = ""
    commit: str = ""
    config: dict[str, str] = {}
    summary: dict[str, str] = {}
    metrics: tuple[Metric, ...] = ()
    members: tuple[Member, ...] = ()
    output: tuple[str, ...] = ()  # the last lines that it printed


def read(catalog: Catalog, run_id: str) -> Details:
    """RunNotFound when there is none."""
    row = catalog.run(run_id)
    return Details(
        id=row.id,
        name=row.name,
        path=row.path,
        command=row.command,
        notes=row.notes,
        commit=row.commit,
        config=_texts(row.config),
        summary=_texts(row.summary),
        metrics=_metrics(catalog, row),
        members=tuple(
            Member(one.name, one.role, one.host, one.pid, one.rank, one.attempt, one.state)
            for one in catalog.writers(row.id)
            if one.role != "annotation"
        ),
        output=_output(catalog, row),
    )


def _texts(values: Mapping[str, Any]) -> dict[str, str]:
    return {key: cell(value) for key, value in flatten(values)}


def _metrics(catalog: Catalog, row: RunRow) -> tuple[Metric, ...]:
    found = []
    for i, (name, stat) in enumerate(row.metrics.items()):
        curve: tuple[Figure, ...] = ()
        if i < CURVES and "{" not in name:
            try:
                series = catalog.series([row.id], name).get(row.id)
            except UsageError:  # it has several sets of tags
                series = None
            curve = shape(series.values) if series is not None else ()
        low, high = figure(stat.min), figure(stat.max)
        found.append(Metric(name, figure(stat.last), stat.last_step, low, high, stat.count, curve))
    return tuple(found)


def shape(values: Sequence[float], points: int = POINTS) -> tuple[Figure, ...]:
    """As many points as a line of text has room for."""
    count = len(values)
    if count <= points:
        return tuple(figure(value) for value in values)
    edges = [i * count // points for i in range(points + 1)]
    return tuple(figure(sum(values[a:b]) / (b - a)) for a, b in pairwise(edges))


def _output(catalog: Catalog, row: RunRow) -> tuple[str, ...]:
    from paddock import files

    directory = catalog.home.run(row.id).output
    try:
        newest = max(directory.glob("*.log"), key=lambda path: path.stat().st_mtime, default=None)
        if newest is None:
            return ()
        data = files.read_from(newest, max(0, newest.stat().st_size - OUTPUT_BYTES))
    except OSError:
        return ()
    return tuple(data.decode("utf-8", "replace").split("\n")[-OUTPUT_LINES:])

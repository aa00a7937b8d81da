"""One run as a notebook sees it: what the catalog knows, and what is fetched when asked for."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paddock.compare.curve import Curve, curve
from paddock.compare.fields import MISSING, flatten, lookup
from paddock.compare.source import Source
from paddock.compare.text import cell, field_cell
from paddock.errors import MetricNotFound
from paddock.model import RunRow, Writer

if TYPE_CHECKING:
    from paddock.catalog.catalog import Catalog


class RunView:
    """A run. Every field of the catalog's row is an attribute (`run.name`, `run.config`, `run.metrics`), `run["lr"]`
    finds a value by a key of the query language, and the rest is read when it is asked for."""

    __slots__ = ("_source", "row")

    def __init__(self, row: RunRow, source: Source) -> None:
        self.row = row
        self._source = source

    def __getattr__(self, name: str) -> Any:
        try:
            return getattr(object.__getattribute__(self, "row"), name)
        except AttributeError:
            raise AttributeError(f"A run has no attribute {name!r}") from None

    def __getitem__(self, key: str) -> Any:
        found = lookup(self.row, key)
        if found is MISSING:
            raise KeyError(key)
        return found

    def get(self, key: str, default: Any = None) -> Any:
        found = lookup(self.row, key)
        return default if found is MISSING else found

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RunView) and other.row == self.row

    def __hash__(self) -> int:
        return hash(self.row.id)

    def series(self, metric: str, *, rank: int | None = None, tags: Mapping[str, Any] | None = None) -> Curve:
        """One metric over its steps."""
        check_metric(metric, [self.row])
        with self._source.catalog() as catalog:
            name, chosen = resolve(catalog, [self.row], metric, tags)
            found = catalog.series([self.row.id], name, rank=rank, tags=chosen)
        if self.row.id not in found:
            raise MetricNotFound(
                f"Run {self.row.id} has no points of {metric!r} with this rank or these tags.",
                hint="`paddock show` lists what it has.",
            )
        return curve(found[self.row.id])

    @property
    def writers(self) -> list[Writer]:
        """The processes that wrote to the run."""
        with self._source.catalog() as catalog:
            return list(catalog.writers(self.row.id))

    def records(self, *kinds: str) -> list[dict[str, Any]]:
        """Records of the journals by kind: "mark", "alert", "artifact", "text", "image" ..."""
        with self._source.catalog() as catalog:
            return list(catalog.records(self.row.id, kinds))

    @property
    def facts(self) -> dict[str, Any]:
        """run.json: what was written once, at the start."""
        with self._source.catalog() as catalog:
            return dict(catalog.facts(self.row.id))

    @property
    def path(self) -> Path:
        return self._source.home.run(self.row.id).path

    def logs(self, attempt: int | None = None, rank: int = 0) -> str:
        """What the run printed, by default in its last attempt."""
        file = output_file(self.path, attempt, rank)
        return "" if file is None else file.read_bytes().decode("utf-8", "replace")

    @property
    def files(self) -> list[Path]:
        """What the user saved with the run."""
        return sorted(path for path in (self.path / "files").rglob("*") if path.is_file())

    def __repr__(self) -> str:
        row = self.row
        lines = [f"Run {row.id}  {row.name}  ({row.project}, {row.state}{': ' + row.reason if row.reason else ''})"]
        lines += [f"  {key} = {cell(value)}" for key, value in list(flatten(row.config))[:20]]
        lines += [f"  {name}: {field_cell('last', lookup(row, f'last.{name}'), 0)}" for name in list(row.metrics)[:20]]
        return "\n".join(lines)


def resolve(
    catalog: Catalog, rows: Sequence[RunRow], name: str, tags: Mapping[str, Any] | None
) -> tuple[str, dict[str, Any] | None]:
    """The metric and the tags that `name` stands for: acc{split=val}, as listings spell it, is acc with a tag."""
    if tags is None and name.endswith("}") and "{" in name:
        metric = name[: name.index("{")]
        for row in rows:
            for found in catalog.metric_tags(row.id, metric) if name in row.metrics else ():
                if found and name == metric + "{" + ",".join(f"{key}={value}" for key, value in found.items()) + "}":
                    return metric, found
    return name, dict(tags) if tags else None


_OUTPUT = re.compile(r"(\d+)(?:\.r(\d+))?\.log")


def output_files(run: Path) -> dict[tuple[int, int], Path]:
    """The run's output by (attempt, rank)."""
    found = {}
    for path in (run / "output").iterdir() if (run / "output").is_dir() else ():
        if match := _OUTPUT.fullmatch(path.name):
            found[int(match[1]), int(match[2] or 0)] = path
    return dict(sorted(found.items()))


def output_file(run: Path, attempt: int | None = None, rank: int = 0) -> Path | None:
    found = {key: path for key, path in output_files(run).items() if key[1] == rank}
    if attempt is None:
        return found[max(found)] if found else None
    return found.get((attempt, rank))


def check_metric(metric: str, rows: list[RunRow]) -> None:
    """Raise MetricNotFound, with near matches and what there is, unless a run has the metric."""
    tagged = metric + "{"
    if any(metric in row.metrics or any(name.startswith(tagged) for name in row.metrics) for row in rows):
        return
    known = sorted({name for row in rows for name in row.metrics})
    near = get_close_matches(metric, known, 3, 0.5) or [name for name in known if metric.lower() in name.lower()][:3]
    whose = f"Run {rows[0].id} has" if len(rows) == 1 else f"None of the {len(rows)} runs has"
    listed = ", ".join(known[:20]) + (f" and {len(known) - 20} more" if len(known) > 20 else "")
    hint = f"Did you mean {' or '.join(map(repr, near))}? " if near else ""
    raise MetricNotFound(
        f"{whose} {'no' if len(rows) == 1 else 'a'} metric {metric!r}.",
        hint=hint + (f"There is: {listed}." if known else "No metric was logged."),
    )

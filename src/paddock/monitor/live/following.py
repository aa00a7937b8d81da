"""What somebody follows closely: points of a metric, what a run prints, what its processes log.

By the thread that looks at the homes. Each is read from where it was left, once for all who follow it.
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paddock.catalog.catalog import Catalog
from paddock.compare.view import output_file, output_files, resolve
from paddock.errors import PaddockError
from paddock.model import RunRow
from paddock.monitor.http import encoding
from paddock.record import lines as lines_
from paddock.record import printed
from paddock.record.layout import RunDirectory

PAGE_BYTES = 256 << 10  # that one event carries of what was printed; who wants the rest asks for it by offset
PAGE_LINES = 500


@dataclass
class Points:
    """`points/RUN/METRIC`"""

    run: str
    metric: str
    seen: dict[int, int] | None = None  # None: not looked at yet

    def look(self, catalog: Catalog, row: RunRow, directory: RunDirectory) -> list[dict[str, Any]]:
        name, tags = resolve(catalog, [row], self.metric, None)
        known = self.seen or {}
        found, self_seen = catalog.new_points(self.run, name, known, tags)
        first, self.seen = self.seen is None, self_seen
        if first or found is None or not found.steps:
            return []
        return [
            {
                "run": self.run,
                "metric": self.metric,
                "steps": found.steps.tolist(),
                "values": found.values.tolist(),
                "times": found.times.tolist(),
            }
        ]


@dataclass
class Output:
    """`output/RUN`: what rank 0 prints, always of the last attempt."""

    run: str
    path: Path | None = None
    at: int = -1  # not looked at yet
    attempt: int = 0

    def look(self, catalog: Catalog, row: RunRow, directory: RunDirectory) -> list[dict[str, Any]]:
        path = output_file(directory.path)
        if path is None:
            self.at = max(self.at, 0)
            return []
        first = self.at < 0
        if path != self.path:
            self.path = path
            self.attempt = next(key[0] for key, value in output_files(directory.path).items() if value == path)
            self.at = _size(path) if first else 0
        if first or _size(path) == self.at:
            return []
        if _size(path) < self.at:  # it was replaced
            self.at = 0
        page = printed.after(path, max(self.at, _size(path) - PAGE_BYTES), PAGE_BYTES)
        self.at = page.end
        text = page.data.decode("utf-8", "replace")
        lines = [printed.clean_line(line, False) for line in text.removesuffix("\n").split("\n")] if text else []
        about = {"run": self.run, "attempt": self.attempt, "rank": 0}
        return [{**about, "size": page.size, "start": page.start, "end": page.end, "lines": lines}]


@dataclass
class Lines:
    """`lines/RUN`: what its processes log."""

    run: str
    at: dict[str, int] | None = None

    def look(self, catalog: Catalog, row: RunRow, directory: RunDirectory) -> list[dict[str, Any]]:
        if self.at is None:
            self.at = lines_.tail(directory.logs, 0).end or {}
            return []
        page = lines_.after(directory.logs, self.at, PAGE_LINES)
        self.at = dict(page.end)
        if not page.lines:
            return []
        said = {"start": lines_.cursor_text(page.start), "end": lines_.cursor_text(page.end), "more": page.more}
        return [{"run": self.run, "lines": page.lines, **said}]


Followed = Points | Output | Lines


def followed(topic: str) -> Followed | None:
    kind, _, rest = topic.partition("/")
    run, _, metric = rest.partition("/")
    if kind == "points":
        return Points(run, metric)
    return Output(run) if kind == "output" else Lines(run) if kind == "lines" else None


def look(one: Followed, catalog: Catalog, row: RunRow, directory: RunDirectory) -> list[bytes]:
    """What is new of it, encoded. The first look only says where it begins."""
    with contextlib.suppress(OSError, PaddockError):  # it is gone, or its tags are ambiguous now
        return [encoding.encode(event) for event in one.look(catalog, row, directory)]
    return []


def _size(path: Path) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0

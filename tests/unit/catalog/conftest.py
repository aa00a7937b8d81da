"""Runs as a training process leaves them, made quickly."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from paddock import wire
from paddock.catalog.catalog import Catalog
from paddock.record.journal import Journal
from paddock.record.layout import Home
from paddock.record.process import boot_id, start_ticks

END = {"k": "end", "code": 0, "reason": "finished"}


class Author:
    """Writes one journal the way a process does."""

    def __init__(self, path: Path, **header: Any) -> None:
        import socket

        about = {
            "run": path.parent.parent.name,
            "writer": path.name.removesuffix(".jsonl"),
            "role": "main",
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "start": start_ticks(os.getpid()),
            "boot": boot_id(),
            "rank": None,
            "world": None,
            "attempt": 1,
            "user": "ann",
            "oom": -1,
        }
        self.path = path
        self.journal = Journal(path, {**about, **header})

    def rows(self, names: tuple[str, ...], rows: list[list[Any]], tags: dict[str, Any] | None = None) -> Author:
        """Each row is [step, value...]; row i was written i milliseconds after the journal was opened."""
        key = (names, str(tags))
        columns = self.journal.columns.get(key) or self.journal.column_set(names, tags or {}, key)
        for i, (step, *values) in enumerate(rows):
            self.journal.write(wire.row_line([columns.id, step, i, *values]))
        return self

    def say(self, **record: Any) -> Author:
        self.journal.append_now(record)
        return self

    def end(self, **record: Any) -> Author:
        self.say(**{**END, **record})
        self.journal.close()
        return self


class Field:
    """Makes runs in a home."""

    def __init__(self, home: Home) -> None:
        self.home = home

    def run(self, run_id: str, **facts: Any) -> Field:
        path = self.home.runs / run_id
        (path / "journal").mkdir(parents=True, exist_ok=True)
        whole = {"v": 1, "id": run_id, "name": run_id, "project": "p", "created": 1000.0, "config": {}, **facts}
        (path / "run.json").write_bytes(wire.dumps(whole))
        return self

    def author(self, run_id: str, writer: str = "w1", **header: Any) -> Author:
        if not (self.home.runs / run_id).exists():
            self.run(run_id)
        return Author(self.home.runs / run_id / "journal" / f"{writer}.jsonl", **header)


@pytest.fixture
def field(home: Home) -> Field:
    return Field(home)


@pytest.fixture
def catalog(home: Home) -> Iterator[Catalog]:
    with Catalog.open(home) as found:
        yield found


@pytest.fixture
def opened(home: Home) -> Iterator[Callable[[], Catalog]]:
    """Opens the index again, as another process would."""
    made: list[Catalog] = []

    def again() -> Catalog:
        made.append(Catalog.open(home))
        return made[-1]

    yield again
    for one in made:
        one.close()

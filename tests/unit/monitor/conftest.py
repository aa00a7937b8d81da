"""A home with runs of every kind, and one server for all tests that only read."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from paddock import wire
from paddock.record.annotation import annotate
from paddock.record.layout import Home
from tests.served import Server, served
from tests.unit.catalog.conftest import Author

LINES = 5000


def author(home: Home, run_id: str, writer: str = "main", **facts: object) -> Author:
    directory = home.run(run_id)
    directory.journals.mkdir(parents=True, exist_ok=True)
    if not directory.facts.exists():
        about = {"v": 1, "id": run_id, "name": f"name-{run_id}", "project": "p", "created": 1e9, **facts}
        directory.facts.write_bytes(wire.dumps(about))
    return Author(directory.journals / f"{writer}.jsonl")


def fill(home: Home) -> None:
    home.prepare()
    first = author(home, "first", created=1e9, config={"lr": 0.1, "deep": {"a": 1}}, tags=["base"])
    first.rows(("loss", "acc"), [[step, 1 / (1 + step), step / 100] for step in range(3000)])
    first.say(k="alert", level="warn", title="hot", text="<b>90 %</b>").end()
    broken = author(home, "broken", created=1e9 + 1, config={"lr": 0.2, "deep": {"a": 2}}, parent="first")
    values = [1.0, math.nan, math.inf, -math.inf, 2.0]
    said = [None if math.isnan(v) else v if math.isfinite(v) else str(v) for v in values]
    broken.rows(("loss",), [[step, value] for step, value in enumerate(said)])
    broken.end(code=1, reason="exception", exception={"type": "ValueError", "message": "x"})
    author(home, "live", created=1e9 + 2).rows(("loss",), [[0, 5.0]])
    output = home.run("first").output
    output.mkdir()
    (output / "1.log").write_bytes(b"".join(b"line %d\n" % n for n in range(LINES)))
    (output / "2.log").write_bytes(b"\x1b]0;title\x07\x1b[31mred\x1b[0m\nbar 1%\rbar 100%\r\nno end")
    files = home.run("first").files
    (files / "sub dir").mkdir(parents=True)
    (files / "sub dir" / "a.txt").write_bytes(b"0123456789")
    (files / "page.html").write_bytes(b"<script>alert(1)</script>")
    (files / "empty").write_bytes(b"")
    os.symlink("/etc/passwd", files / "link")
    os.symlink("..", files / "up")
    annotate(home.run("first"), {"k": "star", "on": True})


@pytest.fixture(scope="package")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Nobody changes what it shows."""
    path: Path = tmp_path_factory.mktemp("shown")
    home = Home(path / "home")
    fill(home)
    before = os.environ.get("PADDOCK_CACHE")
    os.environ["PADDOCK_CACHE"] = str(path / "cache")
    try:
        with served(home) as server:
            yield server
    finally:
        if before is None:
            del os.environ["PADDOCK_CACHE"]
        else:
            os.environ["PADDOCK_CACHE"] = before

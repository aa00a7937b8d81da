"""Every test has a home, a cache and an environment of its own."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, settings

from paddock import wire
from paddock.record.layout import Home, RunDirectory
from paddock.record.scan import journal_files, parse, read_journal
from paddock.work.processes import cgroup

pytest_plugins = ["tests.nvml"]

# A busy machine is no failure.
settings.register_profile("paddock", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("paddock")

_FOREIGN = ("PADDOCK_", "SLURM_")
_RANKS = ("RANK", "WORLD_SIZE", "LOCAL_RANK")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--all-faults", action="store_true", help="every fault at every instant, not a sample of them")


def pytest_configure(config: pytest.Config) -> None:
    # A shell starts what is in its background with SIGINT ignored, and so would be all that the tests start.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # and so does nohup
    # Control groups are named for tasks, and tests that run beside each other call theirs alike: one would kill the
    # other's.
    cgroup._PREFIX = f"paddock-test-{os.getpid()}-"
    config.addinivalue_line("markers", "long: takes minutes; `make test-faults` runs it, `make test` does not")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--all-faults"):
        for item in items:
            if item.get_closest_marker("long"):
                item.add_marker(pytest.mark.skip(reason="it takes minutes: make test-faults"))


@pytest.fixture
def long(request: pytest.FixtureRequest) -> bool:
    """Whether to try everything, or a sample."""
    return bool(request.config.getoption("--all-faults"))


def is_foreign(name: str) -> bool:
    """Whether a variable of the environment could change what is tested."""
    return name.startswith(_FOREIGN) or name in _RANKS


@pytest.fixture(autouse=True)
def _own_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in filter(is_foreign, list(os.environ)):
        monkeypatch.delenv(name)
    monkeypatch.setenv("PADDOCK_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PADDOCK_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def home(tmp_path: Path) -> Home:
    found = Home(tmp_path / "home")
    found.prepare()
    return found


class Reading(NamedTuple):
    """Everything a run's journals say, read straight from disk."""

    points: dict[str, list[tuple[int, Any]]]  # metric (or metric{tag=value}) -> (step, value as written)
    records: dict[str, list[dict[str, Any]]]  # by kind
    facts: dict[str, Any]
    damaged: int

    def values(self, name: str) -> list[Any]:
        return [value for _, value in self.points[name]]


def read_directory(path: Path) -> Reading:
    directory = RunDirectory(Path(path))
    points: dict[str, list[tuple[int, Any]]] = {}
    records: dict[str, list[dict[str, Any]]] = {}
    damaged = 0
    for file in journal_files(directory.journals):
        chunk = parse(read_journal(file))
        damaged += chunk.damaged
        columns = {}
        for record in chunk.records:
            records.setdefault(record["k"], []).append(record)
            if record["k"] == "columns":
                tags = ",".join(f"{k}={v}" for k, v in sorted(record.get("tags", {}).items()))
                columns[record["id"]] = [f"{name}{{{tags}}}" if tags else name for name in record["names"]]
        for rows in chunk.tables:
            for name, values in zip(columns[rows.id], rows.columns[2:], strict=True):
                points.setdefault(name, []).extend(zip(rows.columns[0], values, strict=True))
    facts = wire.loads(directory.facts.read_bytes()) if directory.facts.exists() else {}
    return Reading(points, records, facts, damaged)


@pytest.fixture
def read() -> Callable[[Path], Reading]:
    return read_directory

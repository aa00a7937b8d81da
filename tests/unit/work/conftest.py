"""A guard of real processes, with and without control groups."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from paddock.work.processes import cgroup
from paddock.work.processes.guard import Event, Exited, Guard
from tests.waiting import until


class Bench:
    """A guard, an output file, and every event so far."""

    def __init__(self, guard: Guard, directory: Path) -> None:
        self.guard, self.directory = guard, directory
        self.path = directory / "output.log"
        self.output = os.open(self.path, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
        self.events: list[Event] = []
        self.env = {"PATH": os.environ["PATH"]}

    def sh(self, key: str, script: str, timeout: float = 0.0, grace: float = 30.0) -> None:
        self.guard.spawn(
            key, ["/bin/sh", "-c", f"cd {self.directory}\n{script}"], self.env, self.output, timeout, grace
        )

    def wait(self, kind: Any, key: str = "") -> Any:
        def seen() -> Event | None:
            self.events += self.guard.poll(0.02)
            return next((e for e in self.events if isinstance(e, kind) and (not key or e.key == key)), None)

        return until(seen, pause=0.0)  # the guard has waited already

    def exit(self, key: str) -> Exited:
        found: Exited = self.wait(Exited, key)
        self.events.remove(found)
        return found

    @property
    def text(self) -> str:
        return self.path.read_text()


@pytest.fixture(params=["cgroup", "no cgroup"])
def cgroups(request: pytest.FixtureRequest) -> bool:
    if request.param == "cgroup" and not cgroup.usable():
        pytest.skip("no control groups can be made here")
    return request.param == "cgroup"


@pytest.fixture
def bench(cgroups: bool, tmp_path: Path) -> Iterator[Bench]:
    guard = Guard.start(0, cgroups=cgroups)
    made = Bench(guard, tmp_path)
    yield made
    guard.close()
    os.close(made.output)

"""Many tasks submitted at once, with nobody to run them yet."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import Any

from bench import fresh
from bench.report import Line, Results
from bench.system import System
from bench.taskqueue import TaskQueue

NAME = "submit"
ABOUT = "3,000 tasks at once, and 100 one by one: tasks/s (on the disk when acknowledged: Paddock only)"


def systems(bench: Any) -> list[System]:
    return [system for system in bench.systems.values() if isinstance(system, TaskQueue) and system.takes_batches]


def once(bench: Any, system: TaskQueue) -> dict[str, float]:
    asked = {"count": bench.size(3_000, 200), "single": bench.size(100, 10)}
    return fresh.call("bench.cases.submit:measure", system.name, bench.new_home(f"submit-{system.name}"), **asked)


def measure(system: TaskQueue, home: Path, count: int, single: int) -> dict[str, float]:
    with system.serving(home, workers=0) as client:
        client.submit(1)  # what is imported and connected at the first call
        start = perf_counter()
        client.submit(count)
        batch = perf_counter() - start
        start = perf_counter()
        for _ in range(single):
            client.submit(1)
        alone = perf_counter() - start
    return {"at once, tasks/s": count / batch, "one by one, tasks/s": single / alone}


def lines(results: Results, bench: Any) -> list[Line]:
    return results.at_least("3,000 tasks/s at once, on the disk", "paddock", "at once, tasks/s", 3_000, "tasks/s")

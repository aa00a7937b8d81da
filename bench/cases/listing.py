"""10,000 runs with their configs and last values: what every table, page and query begins with."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import Any

from bench import fresh, homes
from bench.report import Line, Results
from bench.system import System

NAME = "listing"
ABOUT = "10,000 runs with config and last values: ms, the index being up to date"
REPEATS = 5


def systems(bench: Any) -> list[System]:
    return [system for system in bench.systems.values() if hasattr(system, "index")]


def once(bench: Any, system: Any) -> dict[str, float]:
    count = bench.size(10_000, 200)

    def make(home: Path) -> None:
        homes.write_home(system.root(home), range(count), 3)
        homes.settle()
        fresh.call("bench.cases.listing:index", system.name, home)

    home = bench.dataset(f"listing-{count}", make)
    found = fresh.call("bench.cases.listing:measure", system.name, home, count=count)
    return found | {"ls --json ms": 1000 * fresh.command_line(system, home, "ls", "--json")}


def index(system: Any, home: Path) -> dict[str, float]:
    system.index(home)
    return {}


def measure(system: Any, home: Path, count: int) -> dict[str, float]:
    times = []
    for _ in range(1 + REPEATS):
        start = perf_counter()
        listed = system.listed(home)
        times.append(perf_counter() - start)
        if len(listed) != count or not all(run.config and run.metrics["loss"].last for run in listed.rows):
            raise ValueError(f"{len(listed)} runs listed, {count} written, each with a config and a last loss")
    start = perf_counter()
    listed.df("polars")
    frame = perf_counter() - start
    warm = sorted(times[1:])[REPEATS // 2]
    return {"warm ms": warm * 1000, "first ms": times[0] * 1000, "as a data frame ms": frame * 1000}


def lines(results: Results, bench: Any) -> list[Line]:
    return [
        *results.at_most("10,000 runs listed in 300 ms warm", "paddock", "warm ms", 300, "ms"),
        *results.at_most("the first time in a process, 300 ms", "paddock", "first ms", 300, "ms"),
    ]

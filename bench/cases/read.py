"""One metric of all runs into arrays, by each system's own way of reading."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import Any

from bench import data, fresh
from bench.report import Line, Results
from bench.system import System

NAME = "read"
ABOUT = "one metric of all runs into arrays (100 runs of 2,000 steps of 2 metrics; fewer for slow peers): points/s"
REPEATS = 5


def systems(bench: Any) -> list[System]:
    return [system for system in bench.systems.values() if type(system).read is not System.read]


def once(bench: Any, system: System) -> dict[str, float]:
    count, steps = min(system.data_runs, bench.size(100, 5)), bench.size(2_000, 500)

    def make(home: Path) -> None:
        fresh.call("bench.cases.read:write", system.name, home, count=count, steps=steps)

    home = bench.dataset(f"read-{system.name}-{count}-{steps}", make)
    found = {}
    if hasattr(system, "index"):
        found = fresh.call("bench.cases.read:index", system.name, home, values=count * steps * 2)
    return fresh.call("bench.cases.read:measure", system.name, home, expected=count * steps) | found


def write(system: System, home: Path, count: int, steps: int) -> dict[str, float]:
    system.write(home, data.runs(count, steps))
    return {}


def index(system: Any, home: Path, values: int) -> dict[str, float]:
    """From journals to an answer, with no index there."""
    system.forget(home)
    start = perf_counter()
    system.index(home)
    return {"indexed values/s": values / (perf_counter() - start)}


def measure(system: System, home: Path, expected: int) -> dict[str, float]:
    times = []
    for _ in range(1 + REPEATS):
        start = perf_counter()
        found = system.read(home, "loss")
        times.append(perf_counter() - start)
        points = sum(len(values) for values in found.values())
        if points != expected:
            raise ValueError(f"{points} points read, {expected} written")
    warm = sorted(times[1:])[REPEATS // 2]
    return {"warm points/s": expected / warm, "warm ms": warm * 1000, "first ms": times[0] * 1000}


def lines(results: Results, bench: Any) -> list[Line]:
    ours = results.median("paddock", "warm points/s") or 0.0
    floor = results.median("polars+parquet", "warm points/s")
    peers = {
        name: results.median(name, "warm points/s") or 0.0
        for name in results.samples
        if name not in ("paddock", "polars+parquet")
    }
    found = []
    if peers:
        best = max(peers, key=lambda name: peers[name])
        ratio = ours / peers[best]
        found.append(Line(f"10 x the fastest peer ({best})", f"{ratio:,.0f} x ({ours / 1e6:.1f} M/s)", ratio / 10))
    if floor:
        found.append(Line("within 3 x of polars + Parquet", f"{floor / ours if ours else 0:.2f} x", 3 * ours / floor))
    indexed = results.median("paddock", "indexed values/s") or 0.0
    return [*found, Line("cold indexing 1 M values/s", f"{indexed / 1e6:.2f} M/s", indexed / 1e6)]

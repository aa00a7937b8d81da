"""The same new data on top of 1, 10 and 100 times as much that is indexed already: the cost must not grow."""

from __future__ import annotations

import shutil
import statistics
from pathlib import Path
from time import perf_counter
from typing import Any

from bench import fresh, homes
from bench.report import Line, Results
from bench.system import System

NAME = "growth"
ABOUT = "ms to index the same new points, with 1 x, 10 x, 100 x as much indexed before (longer runs; more runs)"
RUNS = 20
REPEATS = 5
FACTORS = (1, 10, 100)
LIMIT = 1.5


def systems(bench: Any) -> list[System]:
    return [system for system in bench.systems.values() if hasattr(system, "index")]


def once(bench: Any, system: System) -> dict[str, float]:
    found: dict[str, float] = {}
    steps = bench.size(500, 50)
    for factor in FACTORS:
        for kind in ("longer", "more"):
            home = bench.new_home(f"growth-{kind}-{factor}")
            asked = {"factor": factor, "steps": steps, "kind": kind}
            found |= fresh.call("bench.cases.growth:measure", system.name, home, **asked)
            shutil.rmtree(home)
    return found


def measure(system: Any, home: Path, factor: int, steps: int, kind: str) -> dict[str, float]:
    root = system.root(home)
    runs, before = (RUNS, steps * factor) if kind == "longer" else (RUNS * factor, steps)
    homes.write_home(root, range(runs), before, finished=kind == "more")
    homes.settle()
    system.index(home)
    times = []
    for repeat in range(REPEATS):
        if kind == "longer":
            homes.append_rows(root, range(RUNS), range(before + repeat * steps, before + (repeat + 1) * steps))
        else:
            homes.write_home(root, range(runs + repeat * RUNS, runs + (repeat + 1) * RUNS), steps)
        start = perf_counter()
        lines = system.index(home)
        times.append(perf_counter() - start)
        if lines < steps * RUNS:
            raise ValueError(f"{lines} lines indexed, {steps * RUNS} written")
    return {f"{kind} {factor}x": statistics.median(times) * 1000}


def lines(results: Results, bench: Any) -> list[Line]:
    found: list[Line] = []
    for kind, text in (("longer", "100 x longer runs"), ("more", "100 x more runs")):
        first = results.median("paddock", f"{kind} 1x") or 0.0
        target = f"{text}: at most {LIMIT} x the cost at 1 x ({first:.0f} ms)"
        found += results.at_most(target, "paddock", f"{kind} 100x", LIMIT * first, "ms")
    return found

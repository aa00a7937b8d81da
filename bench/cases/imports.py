"""How long a script waits for its import line: the whole process's wall time, less that of a bare Python."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from typing import Any

from bench.fresh import NotMeasured, environment, last_line
from bench.report import Line, Results
from bench.system import System

NAME = "imports"
ABOUT = "milliseconds over bare Python"
REPEATS = 5


def systems(bench: Any) -> list[System]:
    return [system for system in bench.systems.values() if system.statement]


def once(bench: Any, system: System) -> dict[str, float]:
    home = bench.new_home(f"import-{system.name}")
    settings = environment() | system.environment(home)
    found = {"import ms": cost(system.statement, settings, home)}
    if system.name == "paddock":
        found["with init ms"] = cost("import paddock; paddock.init", settings, home)
    return found


def cost(statement: str, settings: dict[str, str], home: Any) -> float:
    bare, full = [], []
    for _ in range(REPEATS):  # bare Python is timed alongside: its own time moves with the machine
        bare.append(wall("pass", settings, home))
        full.append(wall(statement, settings, home))
    return (statistics.median(full) - statistics.median(bare)) * 1000


def wall(statement: str, settings: dict[str, str], home: Any) -> float:
    start = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", statement], env=settings, cwd=home, capture_output=True, check=False)
    taken = time.perf_counter() - start
    if done.returncode:
        raise NotMeasured(last_line(done.stderr.decode(errors="replace")))
    return taken


def lines(results: Results, bench: Any) -> list[Line]:
    return [
        *results.at_most("`import paddock` at most 60 ms", "paddock", "import ms", 60, "ms"),
    ]

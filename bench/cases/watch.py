"""A checkpoint appears: how long until its evaluator begins?"""

from __future__ import annotations

import random
import time
from pathlib import Path
from typing import Any

from bench import fresh
from bench.report import Line, Results
from bench.system import System
from bench.watchers import Watcher, ready

NAME = "watch"
ABOUT = "one checkpoint into a watched directory: ms from its rename (or its last byte) to the evaluator's first line"
QUIET_MS = 2_000  # a file that is written in place must rest so long
WARM, RESTED = "paddock watch", "rested, beyond the quiet time, p50"


def systems(bench: Any) -> list[System]:
    return [system for system in bench.systems.values() if isinstance(system, Watcher)]


def once(bench: Any, system: Watcher) -> dict[str, float]:
    home = bench.new_home(f"watch-{system.name}")
    asked = {"times": bench.size(system.samples, 4), "rested": bench.size(4, 1) if system.rests else 0}
    return fresh.call("bench.cases.watch:measure", system.name, home, **asked)


def measure(system: Watcher, home: Path, times: int, rested: int) -> dict[str, float]:
    with ready(system, home) as ((directory,), checkpoints):
        found = sorted(1000 * after_pause(system, lambda: checkpoints.appear(directory)) for _ in range(times))
        slow = sorted(1000 * after_pause(system, lambda: checkpoints.written(directory)) for _ in range(rested))
    measured = {"p50": found[times // 2], "p95": found[min(times * 95 // 100, times - 1)], "max": found[-1]}
    return measured | ({RESTED: slow[rested // 2] - QUIET_MS} if slow else {})


def after_pause(system: Watcher, act: Any) -> float:
    time.sleep(random.uniform(*system.pause))
    return float(act())


def lines(results: Results, bench: Any) -> list[Line]:
    return [
        *results.at_most("the evaluator begins within 20 ms, p50", WARM, "p50", 20, "ms"),
        *results.at_most("the evaluator begins within 60 ms, p95", WARM, "p95", 60, "ms"),
        *results.at_most("written in place: quiet time + 100 ms", WARM, RESTED, 100, "ms"),
        *results.times_less("sooner than assayer's way, 50 x", WARM, "assayer's way", "p50", 50),
    ]

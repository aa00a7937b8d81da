"""What one step of a bar and one call of the logging module cost the training, beside what they cost without us."""

from __future__ import annotations

import io
import logging
from collections.abc import Callable
from pathlib import Path
from time import perf_counter_ns
from typing import Any

from bench import fresh
from bench.report import Line, Results
from bench.system import System

NAME = "progress"
ABOUT = "microseconds: Progress.advance(1), a captured log call; beside it a log call without us, and tqdm's update"
WARM_UP = 100


def systems(bench: Any) -> list[System]:
    return [system for system in bench.systems.values() if system.name == "paddock"]


def once(bench: Any, system: System) -> dict[str, float]:
    calls = bench.size(50_000, 1_000)
    return fresh.call("bench.cases.progress:measure", system.name, bench.new_home("progress"), calls=calls)


def measure(system: Any, home: Path, calls: int) -> dict[str, float]:
    import tqdm

    logger = logging.getLogger("bench")
    logger.propagate = False
    logger.setLevel(logging.INFO)
    logger.addHandler(logging.NullHandler())
    found = percentiles("bare log", calls, lambda i: logger.info("step %d", i))
    drawn = tqdm.tqdm(total=calls, file=io.StringIO())
    found |= percentiles("tqdm", calls, lambda i: drawn.update(1))
    import paddock
    from paddock.monitor import Progress

    run = paddock.init(dir=home, project="bench", capture_logging=True)
    with Progress.new(calls, "bench") as bar:
        found |= percentiles("advance", calls, lambda i: bar.advance(1))
        found |= percentiles("shared", calls, lambda i: bar.advance(1, distributed=True))
    found |= percentiles("log", calls, lambda i: logger.info("step %d", i))
    counted = paddock.tqdm(total=calls, file=io.StringIO())
    found |= percentiles("counted tqdm", calls, lambda i: counted.update(1))
    run.finish()
    return found


def percentiles(name: str, calls: int, call: Callable[[int], object]) -> dict[str, float]:
    times = [0] * calls
    for number in range(WARM_UP):
        call(number)
    for number in range(calls):
        start = perf_counter_ns()
        call(number)
        times[number] = perf_counter_ns() - start
    times.sort()
    return {f"{name} p50 us": times[calls // 2] / 1000, f"{name} p99 us": times[calls * 99 // 100] / 1000}


def lines(results: Results, bench: Any) -> list[Line]:
    return [
        *results.at_most("advance() at most 10 us, p50", "paddock", "advance p50 us", 10, "us"),
        *results.at_most("advance(distributed=True) at most 10 us, p50", "paddock", "shared p50 us", 10, "us"),
        *results.at_most("a log call at most 10 us, p50", "paddock", "log p50 us", 10, "us"),
    ]

"""What a call of log() costs the training, and what it leaves on disk."""

from __future__ import annotations

import random
from pathlib import Path
from time import perf_counter, perf_counter_ns
from typing import Any

from bench import data, fresh
from bench.report import Line, Results
from bench.system import System

NAME = "log"
ABOUT = "log() of 5 scalars with a step: microseconds per call; total includes finish(); bytes per value on disk"
WARM_UP = 100
ROUNDS = 3  # times as many as elsewhere: microseconds vary most


def systems(bench: Any) -> list[System]:
    return [system for system in bench.systems.values() if type(system).start is not System.start]


def once(bench: Any, system: System) -> dict[str, float]:
    calls = min(system.log_calls, bench.size(20_000, 1_000))
    found = fresh.call("bench.cases.log:measure", system.name, bench.new_home(f"log-{system.name}"), calls=calls)
    if bench.round:  # the bytes are the same every time
        return {name: value for name, value in found.items() if name != "B/value"}
    home = bench.new_home(f"two-{system.name}")
    return found | fresh.call("bench.cases.log:measure_two", system.name, home, calls=calls)


def measure(system: System, home: Path, calls: int) -> dict[str, float]:
    started = perf_counter()
    run = system.start(home, "bench", data.CONFIG)
    init = perf_counter() - started
    log, noise, times = run.log, random.Random(0), [0] * calls
    for step in range(WARM_UP):
        log(data.five(step, noise), step=step)
    before = data.disk_bytes(home)
    for at in range(calls):
        step = WARM_UP + at
        values = data.five(step, noise)
        start = perf_counter_ns()
        log(values, step=step)
        times[at] = perf_counter_ns() - start
    busy = sum(times)
    started = perf_counter()
    run.finish()
    finish = perf_counter() - started
    grown = data.disk_bytes(home) - before
    times.sort()
    return {
        "p50 us": times[calls // 2] / 1000,
        "p99 us": times[calls * 99 // 100] / 1000,
        "max us": times[-1] / 1000,
        "total us/call": (busy / 1e3 + finish * 1e6) / calls,
        "init ms": init * 1000,
        "finish ms": finish * 1000,
        "B/value": grown / calls / 5,
    }


def measure_two(system: System, home: Path, calls: int) -> dict[str, float]:
    run = system.start(home, "bench", data.CONFIG)
    noise = random.Random(0)
    for step in range(WARM_UP):
        run.log(data.two(step, noise), step=step)
    before = data.disk_bytes(home)
    for step in range(WARM_UP, WARM_UP + calls):
        run.log(data.two(step, noise), step=step)
    run.finish()
    return {"B/value of 2": (data.disk_bytes(home) - before) / calls / 2}


def lines(results: Results, bench: Any) -> list[Line]:
    us, p50 = "us", "p50 us"
    return [
        *results.at_most("p50 at most 5 us", "paddock", p50, 5, us),
        *results.times_less("p50 below json.dumps + os.write", "paddock", "json+write", p50, 1),
        *results.times_less("p50 below the same without names", "paddock", "json+write rows", p50, 1),
        *results.times_less("p50 4 x below trackio", "paddock", "trackio", p50, 4),
        *results.times_less("p50 50 x below wandb offline", "paddock", "wandb offline", p50, 50),
        *results.times_less("p50 100 x below tensorboardX", "paddock", "tensorboardX", p50, 100),
        *results.at_most("p99 at most 10 x p50", "paddock", "p99 us", 10 * (results.median("paddock", p50) or 0), us),
        *results.times_less("total below json.dumps + os.write", "paddock", "json+write", "total us/call", 1),
        *results.at_most("below 40 bytes per value, 5 a call", "paddock", "B/value", 40, "B"),
        *results.at_most("below 40 bytes per value, 2 a call", "paddock", "B/value of 2", 40, "B"),
    ]

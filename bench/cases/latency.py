"""One task into an idle system: how long until it has begun?"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import perf_counter
from typing import Any

from bench import fresh
from bench.report import Line, Results
from bench.system import System
from bench.taskqueue import TaskQueue, ready

NAME = "latency"
ABOUT = "one task into an idle system with two workers: ms from the call that submits it to its first sign of life"
WORKERS = 2
BLOCKED = 1_000
LISTING_ROUNDS = 2  # listings come every second or so: one look takes long, and says much


def systems(bench: Any) -> list[System]:
    return [system for system in bench.systems.values() if isinstance(system, TaskQueue) and system.is_resident]


def once(bench: Any, system: TaskQueue) -> dict[str, float]:
    times = bench.size(20, 4)

    def measured(**more: Any) -> dict[str, float]:
        home = bench.new_home(f"latency-{system.name}")
        asked: dict[str, Any] = {"times": times, "blocked": 0, "wakes": True}
        return fresh.call("bench.cases.latency:measure", system.name, home, **asked | more)

    found = measured()
    if system.name == "paddock in place":
        found["behind 1,000 blocked p50"] = measured(blocked=bench.size(BLOCKED, 50))["p50"]
        if bench.round < LISTING_ROUNDS:
            found["by listing only, max"] = measured(wakes=False)["max"]
    return found


def measure(system: Any, home: Path, times: int, blocked: int, wakes: bool) -> dict[str, float]:
    found, calls = [], []
    if not wakes:
        system.without_wake()
    # Somebody else listens: a task may begin before the call returns, which waits for the disk once more.
    with ready(system, home, WORKERS) as (client, pipes), ThreadPoolExecutor(1) as listener:
        if blocked:
            client.block(blocked)  # type: ignore[attr-defined]
        for _ in range(times):
            heard = listener.submit(pipes.next)
            time.sleep(system.pause)
            start = perf_counter()
            client.tell(pipes.begun)
            called = perf_counter()
            begun, _ = heard.result()
            found.append((begun - start) * 1000)
            calls.append((called - start) * 1000)
    found.sort()
    calls.sort()
    return {
        "p50": found[times // 2],
        "p90": found[times * 9 // 10],
        "max": found[-1],
        "the call": calls[times // 2],
    }


def lines(results: Results, bench: Any) -> list[Line]:
    behind, listing = "behind 1,000 blocked p50", "by listing only, max"
    return [
        *results.at_most("begins within 10 ms, p50, the code in place", "paddock in place", "p50", 10, "ms"),
        *results.at_most("the same behind 1,000 blocked tasks", "paddock in place", behind, 10, "ms"),
        *results.at_most("by listing only, as on NFS, within 3 s", "paddock in place", listing, 3_000, "ms"),
    ]

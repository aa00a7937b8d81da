"""What a system with a worker takes of a processor while there is nothing to do."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from bench import fresh
from bench.processes import cpu_seconds, family
from bench.report import Line, Results
from bench.system import System
from bench.taskqueue import TaskQueue, ready

NAME = "idle"
ABOUT = "one worker, its server and all their processes with nothing to do: % of a core"
SETTLE_SECONDS = 2
ROUNDS_ENOUGH = 2  # 20 seconds each are an average already
BLOCKED = 1_000


def systems(bench: Any) -> list[System]:
    return [system for system in bench.systems.values() if isinstance(system, TaskQueue) and system.is_resident]


def once(bench: Any, system: TaskQueue) -> dict[str, float]:
    if bench.round >= ROUNDS_ENOUGH:
        return {}
    seconds = bench.size(20, 2)

    def measured(blocked: int) -> float:
        home = bench.new_home(f"idle-{system.name}")
        asked = {"seconds": seconds, "blocked": blocked}
        return float(fresh.call("bench.cases.idle:measure", system.name, home, **asked)["%"])

    found = {"% of a core": measured(0)}
    if system.name == "paddock":
        found["with 1,000 blocked"] = measured(bench.size(BLOCKED, 50))
    return found


def measure(system: TaskQueue, home: Path, seconds: int, blocked: int) -> dict[str, float]:
    with ready(system, home, 1) as (client, _):
        if blocked:
            client.block(blocked)  # type: ignore[attr-defined]
        time.sleep(SETTLE_SECONDS)
        members = family(os.getpid())  # this process too: some systems live in it, and it only sleeps
        before = cpu_seconds(members)
        time.sleep(seconds)
        used = cpu_seconds(members) - before
    return {"%": 100 * used / seconds}


def lines(results: Results, bench: Any) -> list[Line]:
    blocked = "with 1,000 blocked"
    return [
        *results.at_most("an idle worker below 0.5 % of a core", "paddock", "% of a core", 0.5, "%"),
        *results.at_most("the same with 1,000 blocked tasks", "paddock", blocked, 0.5, "%"),
    ]

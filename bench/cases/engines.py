"""A task over the engine's own fastest way to run the same command: what Paddock adds to RQ."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import Any

from bench import fresh
from bench.report import Line, Results
from bench.system import System
from bench.taskqueue import TaskQueue, ready

NAME = "engines"
ABOUT = "tasks that start a process, by one worker on the same kind of Redis: seconds of each, beside an RQ job"
WARM_UP = 10
SYSTEMS = ("rq", "rq simple", "paddock on redis")


def systems(bench: Any) -> list[System]:
    return [bench.systems[name] for name in SYSTEMS if name in bench.systems]


def once(bench: Any, system: TaskQueue) -> dict[str, float]:
    home = bench.new_home(f"engines-{system.name.replace(' ', '-')}")
    return fresh.call("bench.cases.engines:measure", system.name, home, count=bench.size(200, 50))


def measure(system: TaskQueue, home: Path, count: int) -> dict[str, float]:
    with ready(system, home, 1) as (client, _):
        client.submit(WARM_UP, "shell")
        client.wait()
        start = perf_counter()
        client.submit(count, "shell")
        client.wait()
        return {"s/task": (perf_counter() - start) / count}


def lines(results: Results, bench: Any) -> list[Line]:
    """RQ's default forks for each job. Its SimpleWorker does not: its fastest, and a job that dies takes it along."""
    return [
        line
        for peer in ("rq", "rq simple")
        for line in results.times_less(
            f"at most 1.5 x a job of {peer} that runs a subprocess", "paddock on redis", peer, "s/task", 1 / 1.5
        )
    ]

"""A task over the engine's own fastest way to run the same command: what Paddock adds to RQ, however much waits."""

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
FEW, MANY = 100, 10_000  # tasks ahead, of which half fit nobody, and half wait for one of these
LIMIT = 1.5


def systems(bench: Any) -> list[System]:
    return [bench.systems[name] for name in SYSTEMS if name in bench.systems]


def once(bench: Any, system: TaskQueue) -> dict[str, float]:
    found: dict[str, float] = {}
    for ahead in (0, FEW, bench.size(MANY, 1000)) if hasattr(system, "block") else (0,):
        home = bench.new_home(f"engines-{system.name.replace(' ', '-')}-{ahead}")
        asked = {"count": bench.size(200, 50), "ahead": ahead}
        name = "s/task" if not ahead else f"s/task, {'few' if ahead == FEW else 'many'} ahead"
        found[name] = fresh.call("bench.cases.engines:measure", system.name, home, **asked)["s/task"]
    return found


def measure(system: Any, home: Path, count: int, ahead: int) -> dict[str, float]:
    with ready(system, home, 1) as (client, _):
        if ahead:
            system.block(client, ahead)
        client.submit(WARM_UP, "shell")
        client.wait()
        start = perf_counter()
        client.submit(count, "shell")
        client.wait()
        return {"s/task": (perf_counter() - start) / count}


def lines(results: Results, bench: Any) -> list[Line]:
    """RQ's default forks for each job. Its SimpleWorker does not: its fastest, and a job that dies takes it along."""
    ours = "paddock on redis"
    few = results.median(ours, "s/task, few ahead") or 0.0
    grown = f"10,000 ahead that cannot run: at most {LIMIT} x what it is with {FEW} ({few * 1000:.1f} ms)"
    return [
        *(
            line
            for peer in ("rq", "rq simple")
            for line in results.times_less(
                f"at most 1.5 x a job of {peer} that runs a subprocess", ours, peer, "s/task", 1 / 1.5
            )
        ),
        *results.at_most(grown, ours, "s/task, many ahead", LIMIT * few, "s"),
    ]

"""Tasks that do nothing, by two workers: what the queue itself costs."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import Any

from bench import fresh
from bench.report import Line, Results
from bench.system import System
from bench.taskqueue import TaskQueue, ready

NAME = "queue"
ABOUT = "1,000 tasks that do nothing, by two idle workers: from the call that submits them to the end of the last"
WORKERS = 2
WARM_UP = 20
PROCESS_ROUNDS = 2  # RQ needs minutes for it


def systems(bench: Any) -> list[System]:
    return [system for system in bench.systems.values() if isinstance(system, TaskQueue)]


def once(bench: Any, system: TaskQueue) -> dict[str, float]:
    count = bench.size(1_000, 100)

    def measured(task: str) -> dict[str, float]:
        home = bench.new_home(f"queue-{system.name}")
        return fresh.call("bench.cases.queue:measure", system.name, home, count=count, task=task)

    found = measured("nothing")
    if not system.runs_functions:
        return found | {"with a process each": found["tasks/s"]}
    if bench.round >= PROCESS_ROUNDS:
        return found
    return found | {"with a process each": measured("shell")["tasks/s"]}


def measure(system: TaskQueue, home: Path, count: int, task: str) -> dict[str, float]:
    with ready(system, home, WORKERS) as (client, _):
        client.submit(WARM_UP, task)
        client.wait()
        start = perf_counter()
        client.submit(count, task)
        submitted = perf_counter()
        client.wait()
        end = perf_counter()
    found = {"tasks/s": count / (end - start)}
    if system.is_resident:
        found["of it submitting, s"] = submitted - start
    if system.submits_at_once:
        found["once submitted, tasks/s"] = count / (end - submitted)
    return found


def lines(results: Results, bench: Any) -> list[Line]:
    """In place is what the others do; by default Paddock also freezes the code of each task, which they do not."""
    return [line for system in ("paddock in place", "paddock") for line in _targets(results, system)]


def _targets(results: Results, system: str) -> list[Line]:
    rate = "tasks/s"
    what = "" if system == "paddock in place" else ", code frozen"
    return [
        *results.at_least(f"430 tasks/s{what}", system, rate, 430, rate),
        *results.at_least(f"430 tasks/s once submitted{what}", system, "once submitted, tasks/s", 430, rate),
        *results.times_more(f"a third of xargs -P2, the fork limit{what}", system, "xargs -P2", rate, 1 / 3),
        *results.times_more(f"1.6 x HyperQueue{what}", system, "hyperqueue", rate, 1.6),
        *results.times_more(f"5 x RQ{what}", system, "rq", rate, 5),
    ]

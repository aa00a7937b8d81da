"""A long queue: what a worker, a person and a submitter wait for when 100,000 tasks are there already."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from time import perf_counter
from typing import Any

from bench import fresh, tasks
from bench.report import Line, Results
from bench.system import System
from bench.taskqueue import Pipes

NAME = "backlog"
ABOUT = "with 1,000 and 100,000 tasks queued, or done: ms from a task's begin to the next one's, of the same worker"
WORKERS = 2
ADDED = 500
LIMIT = 1.5


def systems(bench: Any) -> list[System]:
    return [system for system in bench.systems.values() if system.name == "paddock"]


def once(bench: Any, system: Any) -> dict[str, float]:
    few, many, begun = bench.size(1_000, 100), bench.size(100_000, 1_000), bench.size(500, 40)
    found: dict[str, float] = {}
    for words, queued, done in (("few", few, 0), ("queued", many, 0), ("done", few, many)):
        # What a round takes off is put back by the next one, and that is timed too: so the tasks are written once.
        home = bench.data / f"backlog-{words}-{queued}-{done}"
        home.mkdir(exist_ok=True)
        fresh.call("bench.cases.backlog:prepare", system.name, home, queued=queued, done=done)
        sample = fresh.call("bench.cases.backlog:measure", system.name, home, begun=begun, added=ADDED)
        sample["status s"] = status(system, home)
        found |= {f"{words}: {quantity}": value for quantity, value in sample.items()}
    return found


def prepare(system: Any, home: Path, queued: int, done: int) -> dict[str, float]:
    with system.serving(home, workers=0) as client:
        client.submit(0)
        client.end(done - len(client.names("done")))
        client.fill(queued, home / "begun.pipe")
    return {}


def measure(system: Any, home: Path, begun: int, added: int) -> dict[str, float]:
    pipes = Pipes(home)
    last: dict[bytes, float] = {}
    gaps: list[float] = []
    with system.serving(home, workers=0) as client:
        client.tell(pipes.begun)  # what is imported and frozen at the first call
        start = perf_counter()
        client.put([{"cmd": tasks.telling(str(pipes.begun))}] * added)
        filling = perf_counter() - start
    start = perf_counter()
    with system.serving(home, WORKERS):
        first = 0.0
        while len(gaps) < begun:
            now, workers = pipes.next()
            first = first or now - start
            for worker in workers:
                if worker in last:
                    gaps.append((now - last[worker]) * 1000)
                last[worker] = now
    gaps.sort()
    return {
        "p50": gaps[len(gaps) // 2],
        "p99": gaps[len(gaps) * 99 // 100],
        "first after the worker's start, s": first,
        "submitting, tasks/s": added / filling,
    }


def status(system: Any, home: Path) -> float:
    """The whole command, from starting Python to the last byte."""
    start = perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "paddock", "status", *system.status_arguments()],
        env=fresh.environment() | system.environment(home),
        capture_output=True,
        check=False,
    )
    taken = perf_counter() - start
    if done.returncode:
        raise fresh.NotMeasured(fresh.last_line(done.stderr.decode(errors="replace")))
    return taken


def lines(results: Results, bench: Any) -> list[Line]:
    first = results.median("paddock", "few: p50") or 0.0
    grown = f"at most {LIMIT} x what it is with 1,000 ({first:.1f} ms)"
    return [
        *results.at_most("100,000 queued: the next begins within 50 ms, p99", "paddock", "queued: p99", 50, "ms"),
        *results.at_most("100,000 queued: `paddock status` in 1 s", "paddock", "queued: status s", 1, "s"),
        *results.at_most("100,000 done: `paddock status` in 1 s", "paddock", "done: status s", 1, "s"),
        *results.at_most(f"100,000 queued: {grown}", "paddock", "queued: p50", LIMIT * first, "ms"),
        *results.at_most(f"100,000 done: {grown}", "paddock", "done: p50", LIMIT * first, "ms"),
    ]

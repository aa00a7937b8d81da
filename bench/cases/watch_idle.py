"""What watching takes of a processor while no checkpoint comes."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from bench import fresh
from bench.processes import cpu_seconds, family
from bench.report import Line, Results
from bench.system import System
from bench.watchers import Watcher, ready

NAME = "watch_idle"
ABOUT = "directories of 100 checkpoints that stay as they are; the watch, its workers and servers: CPU seconds a minute"
FILES = 100
SETTLE_SECONDS = 10
MEASURED = ("paddock watch", "assayer's way", "inotify loop")
ROUNDS_ENOUGH = 1  # two minutes are an average already: everything is looked at once in so long
FEW, MANY, MEMORY = "100 directories, CPU s", "500 directories, CPU s", "100 directories, MB"


def systems(bench: Any) -> list[System]:
    return [bench.systems[name] for name in MEASURED if name in bench.systems]


def once(bench: Any, system: Watcher) -> dict[str, float]:
    if bench.round >= ROUNDS_ENOUGH:
        return {}

    def measured(directories: int) -> dict[str, float]:
        home = bench.new_home(f"watch-idle-{system.name}")
        asked = {"directories": directories, "files": bench.size(FILES, 5), "seconds": bench.size(120, 3)}
        return fresh.call("bench.cases.watch_idle:measure", system.name, home, **asked)

    few = measured(bench.size(100, 5))
    found = {FEW: few["cpu"], MEMORY: few["memory"]}
    if system.name == "paddock watch":
        found[MANY] = measured(bench.size(500, 10))["cpu"]
    return found


def measure(system: Watcher, home: Path, directories: int, files: int, seconds: int) -> dict[str, float]:
    with ready(system, home, directories, files):
        time.sleep(SETTLE_SECONDS)
        members = family(os.getpid())  # this process too, but it only sleeps
        before = cpu_seconds(members)
        time.sleep(seconds)
        used = cpu_seconds(family(os.getpid())) - before
        return {"cpu": used * 60 / seconds, "memory": sum(map(memory, members)) / 1e6}


def memory(pid: int) -> float:
    """Bytes; what several share is divided among them."""
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return 1024.0 * int(line.split()[1])
    except OSError:
        pass
    return 0.0


def lines(results: Results, bench: Any) -> list[Line]:
    return [
        *results.at_most("100 directories of 100 files: 0.3 CPU s a minute", "paddock watch", FEW, 0.3, "s"),
        *results.at_most("500 directories: 2 % of a core", "paddock watch", MANY, 1.2, "s"),
    ]

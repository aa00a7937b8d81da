"""python -m bench [--only CASE[,CASE]] [--systems NAME[,NAME]] [--rounds N] [--quick] [--data DIR]"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import signal
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path
from typing import Any

from bench.fresh import NotMeasured
from bench.report import Line, Results, cell, print_lines, print_table
from bench.system import System, all_systems

QUEUE_CASES = ("queue", "engines", "latency", "submit", "backlog", "idle")
WATCH_CASES = ("watch", "watch_idle")
MONITOR_CASES = ("progress", "lines", "serve", "board")
RECORD_CASES = ("imports", "log", "usage", "pack", "kill", "read", "listing", "export", "growth")
CASES = (*RECORD_CASES, *QUEUE_CASES, *WATCH_CASES, "ship", *MONITOR_CASES, "slurm", "kubernetes")
PACE_TURNS, DISK_FILES = 200_000, 20
RESULTS = Path(__file__).parent / "results"


class Bench:
    """What a case gets to work with."""

    def __init__(self, data: Path, scratch: Path, rounds: int, quick: bool, chosen: set[str]) -> None:
        self.data, self.scratch, self.rounds, self.quick = data, scratch, rounds, quick
        self.round = 0
        self.systems = {name: system for name, system in all_systems().items() if not chosen or name in chosen}

    def size(self, full: int, quick: int) -> int:
        return quick if self.quick else full

    def new_home(self, name: str) -> Path:
        """A home for one measurement."""
        return Path(tempfile.mkdtemp(prefix=slug(name) + "-", dir=self.scratch))

    def dataset(self, name: str, make: Any) -> Path:
        """A home that is written once and then only read; kept when --data names a directory."""
        home = self.data / slug(name)
        if not (home / ".complete").exists():
            shutil.rmtree(home, ignore_errors=True)
            home.mkdir(parents=True)
            make(home)
            (home / ".complete").touch()
        return home


def slug(name: str) -> str:
    return "".join(c if c.isalnum() else "-" for c in name)


def run_case(case: Any, bench: Bench) -> Results:
    """Round-robin over the systems, so that a slow minute of the machine hits all of them."""
    results = Results()
    systems: list[System] = [system for system in case.systems(bench) if system.name in bench.systems]
    for number in range(bench.rounds * getattr(case, "ROUNDS", 1)):
        bench.round = number
        for system in systems:
            if system.name in results.missing:
                continue
            say(f"{case.NAME}: round {number + 1}, {system.name}")
            results.paces.append(pace())
            results.disk_paces.append(disk_pace(bench.scratch))
            try:
                results.add(system.name, case.once(bench, system))
            except NotMeasured as error:
                results.missing[system.name] = str(error)
    say("")
    return results


def pace() -> float:
    """Nanoseconds that a turn of an empty loop takes: what a shared machine gives at this moment."""
    start = time.perf_counter_ns()
    for _ in range(PACE_TURNS):
        pass
    return (time.perf_counter_ns() - start) / PACE_TURNS


def disk_pace(scratch: Path) -> float:
    """Microseconds that a new file takes. ext4 steps over what was deleted in the last minutes, one by one: after the
    end of a large test suite this may be 50 times what it is on a disk at rest."""
    directory = tempfile.mkdtemp(dir=scratch)
    start = time.perf_counter_ns()
    for number in range(DISK_FILES):
        os.close(os.open(f"{directory}/{number}", os.O_CREAT | os.O_WRONLY, 0o600))
    return (time.perf_counter_ns() - start) / DISK_FILES / 1000


def say(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def machine() -> dict[str, Any]:
    return {
        "cpus": os.cpu_count(),
        "python": platform.python_version(),
        "system": platform.system(),
        "load": os.getloadavg(),
        "versions": {name: system.version() for name, system in all_systems().items() if system.distribution},
    }


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--only", default="", help=f"cases, separated by commas: {', '.join(CASES)}")
    parser.add_argument("--systems", default="", help="systems, separated by commas, as the tables name them")
    parser.add_argument("--rounds", type=int, default=0, help="interleaved rounds (5; with --quick 2)")
    parser.add_argument("--quick", action="store_true", help="little data: shows that it works, judges nothing")
    parser.add_argument("--data", type=Path, help="keep the written data sets here and use them again")
    options = parser.parse_args()
    names = [name for name in options.only.split(",") if name] or list(CASES)
    if unknown := set(names) - set(CASES):
        parser.error(f"no such case: {', '.join(sorted(unknown))}; there are {', '.join(CASES)}")
    scratch = Path(tempfile.mkdtemp(prefix="paddock-bench-")).resolve()
    data = (options.data or scratch / "data").resolve()
    data.mkdir(parents=True, exist_ok=True)
    chosen = {name for name in options.systems.split(",") if name}
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))  # the measurement ends with us
    try:
        return run(Bench(data, scratch, options.rounds or (2 if options.quick else 5), options.quick, chosen), names)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def run(bench: Bench, names: list[str]) -> int:
    found: dict[str, Any] = {"machine": machine(), "rounds": bench.rounds, "quick": bench.quick, "cases": {}}
    lines: list[tuple[str, Line]] = []
    for name in names:
        case = import_module(f"bench.cases.{name}")
        results = run_case(case, bench)
        judged = [(name, line) for line in case.lines(results, bench)]
        print(f"\n{name}: {case.ABOUT}\n")
        print_table(results.table())
        paces = f"an empty loop's turn, in ns: {cell(results.paces)}; a new file, in us: {cell(results.disk_paces)}"
        print(f"\n  meanwhile {paces}")
        sys.stdout.flush()
        lines += judged
        found["cases"][name] = results.plain() | {"lines": [line._asdict() for _, line in judged]}
    print("\nTargets (margin: how much better than demanded)\n")
    print_lines(lines)
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / time.strftime("%Y-%m-%dT%H-%M-%S.json")
    path.write_text(json.dumps(found, indent=1))
    print(f"\nAll samples: {path}")
    return 0 if all(line.verdict != "FAIL" for _, line in lines) else 1


if __name__ == "__main__":
    sys.exit(main())

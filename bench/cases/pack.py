"""`paddock gc --pack`: what a finished run weighs afterwards, and that it still reads the same."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from bench import data, fresh
from bench.report import Line, Results
from bench.system import System

NAME = "pack"
ABOUT = "a finished run of 2 metrics a call, packed: bytes per value before and after, and how long it took"


def systems(bench: Any) -> list[System]:
    return [system for system in bench.systems.values() if hasattr(system, "pack_arguments")]


def once(bench: Any, system: Any) -> dict[str, float]:
    calls, home = bench.size(20_000, 1_000), bench.new_home("pack")
    fresh.call("bench.cases.pack:write", system.name, home, calls=calls)
    root = system.root(home) / "runs"
    plain, before = data.disk_bytes(root), fresh.call("bench.cases.pack:digest", system.name, home)
    taken = fresh.command_line(system, home, *system.pack_arguments())
    system.forget(home)  # so that what is read now comes out of the packed journal
    after = fresh.call("bench.cases.pack:digest", system.name, home)
    if after != before or before["points"] != calls:
        raise fresh.NotMeasured(f"the packed run reads differently: {before}, then {after}")
    values = calls * 2
    return {
        "plain B/value": plain / values,
        "packed B/value": data.disk_bytes(root) / values,
        "gc --pack ms": taken * 1000,
    }


def write(system: System, home: Path, calls: int) -> dict[str, float]:
    run, noise = system.start(home, "bench", data.CONFIG), random.Random(0)
    for step in range(calls):
        run.log(data.two(step, noise), step=step)
    run.finish()
    return {}


def digest(system: System, home: Path) -> dict[str, float]:
    values = next(iter(system.read(home, "loss").values()))
    return {"points": len(values), "sum": sum(values)}


def lines(results: Results, bench: Any) -> list[Line]:
    plain = results.median("paddock", "plain B/value") or 0.0
    return results.at_most("a packed run is smaller, and reads the same", "paddock", "packed B/value", plain, "B/value")

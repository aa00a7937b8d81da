"""1,000 runs of 10,000 points each to one Parquet file, by the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bench import fresh, homes
from bench.report import Line, Results
from bench.system import System

NAME = "export"
ABOUT = "1,000 runs of 10,000 points each to Parquet: seconds of the whole command, the index being up to date"


def systems(bench: Any) -> list[System]:
    return [system for system in bench.systems.values() if hasattr(system, "index")]


def once(bench: Any, system: Any) -> dict[str, float]:
    count, steps = bench.size(1_000, 20), bench.size(10_000, 1_000)

    def make(home: Path) -> None:
        homes.write_home(system.root(home), range(count), steps, metrics=("loss",))
        homes.settle()
        fresh.call("bench.cases.listing:index", system.name, home)

    home = bench.dataset(f"export-{count}-{steps}", make)
    target = home / "points.parquet"
    target.unlink(missing_ok=True)
    taken = fresh.command_line(system, home, *system.export_arguments(target))
    rows = fresh.call("bench.cases.export:count", system.name, home, path=str(target))["rows"]
    if rows != count * steps:
        raise fresh.NotMeasured(f"{rows} rows exported, {count * steps} points written")
    return {"seconds": taken, "MB": target.stat().st_size / 1e6}


def count(system: Any, home: Path, path: str) -> dict[str, float]:
    import pyarrow.parquet

    return {"rows": pyarrow.parquet.ParquetFile(path).metadata.num_rows}


def lines(results: Results, bench: Any) -> list[Line]:
    return results.at_most("1,000 runs x 10,000 points in 10 s", "paddock", "seconds", 10, "s")

"""Ten million log lines of one run: how long a page takes, wherever it is, and what memory."""

from __future__ import annotations

import re
import resource
from pathlib import Path
from time import perf_counter
from typing import Any

from bench import fresh
from bench.report import Line, Results
from bench.system import System

NAME = "lines"
ABOUT = "10 M log lines (1 GB) of 8 processes: ms for the last 200, for 200 anywhere, for a search; MB of memory"
FILES, PAGE, PLACES = 8, 200, 20


def systems(bench: Any) -> list[System]:
    return [system for system in bench.systems.values() if system.name == "paddock"]


def once(bench: Any, system: System) -> dict[str, float]:
    count = bench.size(10_000_000, 100_000)
    home = bench.dataset(f"lines-{count}", lambda path: write(path, count))
    return fresh.call("bench.cases.lines:measure", system.name, home, count=count)


def write(home: Path, count: int) -> None:
    from paddock import wire

    for number in range(FILES):
        opened = {"k": "open", "v": 1, "t": 0.0, "host": f"host{number}", "pid": number, "rank": number}
        with open(home / f"w{number}.jsonl", "wb") as file:
            file.write(wire.record_line(opened))
            for i in range(number, count, FILES):
                said = {
                    "k": "line",
                    "t": i / 100,
                    "level": 20,
                    "logger": "root",
                    "text": f"step {i}",
                    "where": "a.py:1",
                }
                file.write(wire.record_line(said))


def measure(system: Any, home: Path, count: int) -> dict[str, float]:
    from paddock.record import lines

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = {"tail ms": took(lambda: full(lines.tail(home, PAGE).lines))}
    places, pages = [], []
    for number in range(PLACES):
        t = count / 100 * number / PLACES
        start = perf_counter()
        place = lines.at(home, t)
        places.append(perf_counter() - start)
        start = perf_counter()
        page = lines.after(home, place, PAGE) if number % 2 else lines.before(home, lines.at(home, t + 100), PAGE)
        pages.append(perf_counter() - start + places[-1])
        full(page.lines)
    match = lines.Match(pattern=re.compile("no such text"))
    return {
        **found,
        "page ms, worst": max(pages) * 1000,
        "search ms": took(lambda: lines.tail(home, PAGE, match)),
        "MB": (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024,
    }


def full(found: list[Any]) -> None:
    if len(found) != PAGE or [line.t for line in found] != sorted(line.t for line in found):
        raise ValueError(f"{len(found)} lines, not {PAGE} in order")


def took(call: Any) -> float:
    start = perf_counter()
    call()
    return (perf_counter() - start) * 1000


def lines(results: Results, bench: Any) -> list[Line]:
    return [
        *results.at_most("the last 200 lines in 50 ms", "paddock", "tail ms", 50, "ms"),
        *results.at_most("any 200 lines in 100 ms", "paddock", "page ms, worst", 100, "ms"),
        *results.at_most("with 50 MB of memory", "paddock", "MB", 50, "MB"),
    ]

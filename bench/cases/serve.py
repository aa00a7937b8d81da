"""The server: lists, series, pages of a large output, and how soon a new point is told to how many."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from bench import fresh, homes
from bench.peers.pages import Page
from bench.peers.servers import LOAD_SECONDS, METRICS, PaddockServer, Server, ask
from bench.processes import cpu_seconds, family, wait_until
from bench.report import Line, Results
from bench.system import System

NAME = "serve"
ABOUT = "1,000 runs x 1,000 points x 3 metrics over HTTP: ms; output of 10 M lines; 1,000 who listen"
REPEATS, CLIENT_REPEATS, SLOW_MS = 15, 3, 20_000
LIST, FIRST, SERIES, SAME = "list ms", "first list ms", "one metric of 50 runs ms", "the same again ms"
CLIENT = "run by run, as its client ms"
TAIL, PAGE, MEMORY = "tail of 10 M lines ms", "a page of them ms", "server MB"
TOLD, TOLD_MANY, CPU = "a point told ms p95", "to 1,000 listeners ms p95", "CPU of 1,000 who listen, %"


def systems(bench: Any) -> list[System]:
    return [system for system in bench.systems.values() if isinstance(system, Server) and not isinstance(system, Page)]


def once(bench: Any, system: Server) -> dict[str, float]:
    runs, steps = bench.size(1000, 60), bench.size(1000, 50)

    def make(home: Path) -> None:
        fresh.call("bench.cases.serve:fill", system.name, home, runs=runs, steps=steps)
        homes.settle()

    home = bench.dataset(f"serve-{system.name.replace(' ', '-')}-{runs}-{steps}", make)
    found = fresh.call("bench.cases.serve:measure", system.name, home, runs=runs, steps=steps)
    if isinstance(system, PaddockServer) and bench.round == 0:
        other = bench.new_home("serve-live")
        asked = {"lines": bench.size(10_000_000, 10_000), "listeners": bench.size(1000, 20)}
        found |= fresh.call("bench.cases.serve:live", system.name, other, **asked)
    return found


def fill(system: Server, home: Path, runs: int, steps: int) -> None:
    system.fill(home, runs, steps)


def timed(call: Callable[[], bytes]) -> tuple[float, bytes]:
    start = time.perf_counter()
    body = call()
    return 1000 * (time.perf_counter() - start), body


def several(calls: Sequence[Callable[[], bytes]], check: Callable[[bytes], None] = lambda body: None) -> list[float]:
    """How long each took, in ms, without the check of the answer. Who takes seconds for one is asked less often."""
    took: list[float] = []
    for call in calls:
        ms, body = timed(call)
        check(body)
        took.append(ms)
        if sum(took) > SLOW_MS:
            break
    return took


def measure(system: Server, home: Path, runs: int, steps: int) -> dict[str, float]:
    def whole(body: bytes) -> None:
        if (found := system.points(body)) != min(50, runs) * steps:
            raise ValueError(f"{found} of {min(50, runs) * steps} points are in the answer")

    with system.serving(home) as line:
        wait_until(lambda: system.loaded(line, runs, steps), "all files are read", 1.0, LOAD_SECONDS)
        first, body = timed(lambda: system.list(line, runs))
        ids = system.ids(body)
        if len(ids) != runs:
            raise ValueError(f"{len(ids)} of {runs} runs are listed")
        lists = several([lambda: system.list(line, runs)] * REPEATS)
        pages = [ids[at : at + 50] for at in range(0, runs - runs % 50 or runs, 50)][:REPEATS]
        cold = several([partial(system.curves, line, page, "loss") for page in pages], whole)
        again = several([lambda: system.curves(line, pages[0], "loss")] * REPEATS)
        times = {FIRST: first, LIST: median(lists), SERIES: median(cold), SAME: median(again)}
        if type(system).run_by_run is not Server.run_by_run:
            calls = [partial(system.run_by_run, line, page, "loss") for page in pages[:CLIENT_REPEATS]]
            times[CLIENT] = median(several(calls))
    return times


def live(system: PaddockServer, home: Path, lines: int, listeners: int) -> dict[str, float]:
    homes.write_home(home / "home", range(20), 10, METRICS, finished=False)
    output = home / "home" / "runs" / homes.run_id(0) / "output"
    output.mkdir()
    with open(output / "1.log", "wb") as file:
        for at in range(0, lines, 10_000):
            file.write(b"".join(b"%08d %s\n" % (n, b"x" * 91) for n in range(at, min(at + 10_000, lines))))
    size = (output / "1.log").stat().st_size
    with system.serving(home) as line:
        base = f"/api/v1/runs/{homes.run_id(0)}/output?"
        tails = [timed(partial(ask, line, base + "lines=200"))[0] for _ in range(REPEATS)]
        paged = [timed(partial(ask, line, base + f"after={size * n // REPEATS}"))[0] for n in range(REPEATS)]
        server = min(family(_pid(home)))
        memory = _resident(server)
        few = asyncio.run(_heard(home, line.port, 1, 100))
        before, since = cpu_seconds([server]), time.monotonic()
        many = asyncio.run(_heard(home, line.port, listeners, 30))
        share = 100 * (cpu_seconds([server]) - before) / (time.monotonic() - since)
    return {TAIL: median(tails), PAGE: max(paged), MEMORY: memory / 1e6, TOLD: few, TOLD_MANY: many, CPU: share}


async def _heard(home: Path, port: int, listeners: int, points: int) -> float:
    """The time from the writing of a point until the last of the listeners has it, the 95th of a hundred."""
    run, metric = homes.run_id(1), METRICS[0]
    readers = []
    for _ in range(listeners):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(f"GET /api/v1/events?only=none&points={run}:{metric} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        await reader.readuntil(b"event: hello")
        readers.append((reader, writer))
    first, times = int(time.time() * 1000) % 10**9, []
    for number in range(points):
        step = first + number
        homes.append_rows(home / "home", range(1, 2), range(step, step + 1), METRICS)
        start = time.perf_counter()
        await asyncio.gather(*(reader.readuntil(b'"steps":[%d]' % step) for reader, _ in readers))
        times.append(1000 * (time.perf_counter() - start))
        await asyncio.sleep(0.02 + (number % 7) / 50)
    for _, writer in readers:
        writer.close()
    return sorted(times)[int(len(times) * 0.95)]


def _pid(home: Path) -> int:
    return int(json.loads((home / "home" / "server" / "serving.json").read_text())["pid"])


def _resident(pid: int) -> float:
    return 4096.0 * int(Path(f"/proc/{pid}/statm").read_text().split()[1])


def lines(results: Results, bench: Any) -> list[Line]:
    own = "paddock serve"
    return [
        *results.at_most("1,000 runs with last values listed in 10 ms", own, LIST, 10, "ms"),
        *results.at_most("one metric of 50 runs in 100 ms", own, SERIES, 100, "ms"),
        *results.at_most("the tail of 10 M lines in 50 ms", own, TAIL, 50, "ms"),
        *results.at_most("any page of them in 100 ms", own, PAGE, 100, "ms"),
        *results.at_most("a new point told within 500 ms", own, TOLD, 500, "ms"),
        *results.at_most("to 1,000 listeners within 500 ms", own, TOLD_MANY, 500, "ms"),
    ]

"""The board in a real browser: how soon it shows something useful, how smooth its zoom is, what a page costs that stays
open."""

from __future__ import annotations

import gzip
import itertools
import json
import time
from http.client import HTTPConnection
from pathlib import Path
from statistics import median
from typing import Any

from bench import fresh, homes
from bench.browser import chromium, painted
from bench.peers.pages import PaddockPage, Page
from bench.peers.servers import LOAD_SECONDS
from bench.processes import cpu_seconds, family, wait_quiet, wait_until
from bench.report import Line, Results
from bench.system import System

NAME = "board"
ABOUT = "in Chromium, 1280 x 800, with an empty cache: ms until ten names of runs, or two curves, are painted"
LOOKS, SLOW_MS = 5, 20_000
NAMES, CURVES = 10, 2
VIEWERS = 10
ZOOMS = 60
MANY, LONG = "list of 10,000 runs ms", "run of 100 x 100,000 points ms"
FRAMES, SLOWEST = "zoom in 50 curves, frames/s", "slowest frame ms"
IDLE, BUNDLE = "idle page, % of a core", "bundle kB"
# While the wheel turns over the chart, as fast as the browser takes it: each turn changes the zoom of all curves.
_FRAMES = """() => {
  window.frames_ = [];
  const tick = (now) => { window.frames_.push(now); window.ticking && requestAnimationFrame(tick); };
  window.ticking = true;
  requestAnimationFrame(tick);
}"""


def systems(bench: Any) -> list[System]:
    return [system for system in bench.systems.values() if isinstance(system, Page)]


def once(bench: Any, system: Page) -> dict[str, float]:
    sizes = {"runs": bench.size(10_000, 200), "metrics": bench.size(100, 8), "points": bench.size(100_000, 1000)}
    made = f"{system.name}-{'-'.join(map(str, sizes.values()))}"
    many = bench.dataset(f"board-many-{made}", lambda home: _fill("many", system, home, sizes["runs"]))
    long = bench.dataset(
        f"board-long-{made}", lambda home: _fill("long", system, home, sizes["metrics"], sizes["points"])
    )
    found = fresh.call("bench.cases.board:shown", system.name, many, quantity=MANY, runs=sizes["runs"])
    found |= fresh.call("bench.cases.board:shown", system.name, long, quantity=LONG, runs=1)
    if isinstance(system, PaddockPage):
        points, runs = sizes["points"], bench.size(50, 5)
        curves = bench.dataset(f"board-curves-{made}", lambda home: _fill("overlaid", system, home, runs, points))
        found |= fresh.call("bench.cases.board:zoomed", system.name, curves, runs=runs)
        found |= fresh.call("bench.cases.board:idle", system.name, many, seconds=bench.size(20, 3))
        found[BUNDLE] = bundle_kilobytes()
    return found


def _fill(way: str, system: Page, home: Path, *sizes: int) -> None:
    fresh.call("bench.cases.board:fill", system.name, home, way=way, sizes=sizes)
    homes.settle()


def fill(system: Page, home: Path, way: str, sizes: list[int]) -> None:
    getattr(system, way)(home, *sizes)


def shown(system: Page, home: Path, quantity: str, runs: int) -> dict[str, float]:
    """The server has read everything; the browser knows nothing."""
    with system.serving(home) as line, chromium() as browser:
        wait_until(lambda: system.ready(line, runs), "all runs are read", 1.0, LOAD_SECONDS)
        path = system.listed(line) if quantity == MANY else system.curved(line)
        wanted = ("names", NAMES) if quantity == MANY else ("curves", CURVES)
        took: list[float] = []
        while len(took) < LOOKS and sum(took) < SLOW_MS:
            took.append(painted(browser, _url(line, path), *wanted))
        return {quantity: median(took)}


def zoomed(system: PaddockPage, home: Path, runs: int) -> dict[str, float]:
    with system.serving(home) as line, chromium() as browser:
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        ids = "&".join(f"run={homes.run_id(number)}" for number in range(runs))
        page.goto(_url(line, f"/compare?{ids}"))
        chart = page.locator("main .plot .u-over").first
        chart.wait_for(timeout=60_000)
        _rest(page)  # all curves have come
        chart.scroll_into_view_if_needed()
        box = chart.bounding_box()
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        before = page.url
        page.evaluate(_FRAMES)
        page.keyboard.down("Shift")
        for number in range(ZOOMS):
            page.mouse.wheel(0, -60 if number < ZOOMS / 2 else 60)
            page.wait_for_timeout(16)
        page.keyboard.up("Shift")
        times = page.evaluate("() => { window.ticking = false; return window.frames_; }")
        if page.url == before:
            raise ValueError("the wheel did not zoom")
        gaps = [later - sooner for sooner, later in itertools.pairwise(times)]
        return {FRAMES: 1000 * len(gaps) / sum(gaps), SLOWEST: max(gaps)}


def idle(system: PaddockPage, home: Path, seconds: float) -> dict[str, float]:
    """What a page more costs the server, when nothing changes."""
    with system.serving(home) as line, chromium() as browser:
        server = min(family(int(json.loads((home / "home/server/serving.json").read_text())["pid"])))
        alone = _share(server, seconds)
        pages = [browser.new_page() for _ in range(VIEWERS)]
        for number, page in enumerate(pages):
            page.goto(_url(line, ("/runs", "/now", "/queue", f"/runs/{homes.run_id(0)}", "/watches")[number % 5]))
            page.locator("header .link-state").wait_for()
            _rest(page)
        wait_quiet(server, "the server with its viewers", share=0.2)
        return {IDLE: max(0.0, (_share(server, seconds) - alone) / VIEWERS)}


def _rest(page: Any) -> None:
    """Until it has asked the server for nothing more for a second."""
    asked, before = "() => performance.getEntriesByType('resource').length", -1
    while (now := page.evaluate(asked)) != before:
        before = now
        page.wait_for_timeout(1000)


def _share(pid: int, seconds: float) -> float:
    """Per cent of a core."""
    before, since = cpu_seconds([pid]), time.monotonic()
    time.sleep(seconds)
    return 100 * (cpu_seconds([pid]) - before) / (time.monotonic() - since)


def bundle_kilobytes() -> float:
    """All that a browser may ever load, compressed."""
    from paddock.monitor.board import bundle

    found = bundle.read()
    files = [*found.assets.values(), *([found.page] if found.page else [])]
    return sum(len(file.gzipped or gzip.compress(file.body)) for file in files) / 1000


def _url(line: HTTPConnection, path: str) -> str:
    return f"http://127.0.0.1:{line.port}{path}"


def lines(results: Results, bench: Any) -> list[Line]:
    own = PaddockPage.name
    return [
        *results.at_most("10,000 runs are listed in 1 s", own, MANY, 1000, "ms"),
        *results.at_most("a run of 100 metrics x 100,000 points is drawn in 1 s", own, LONG, 1000, "ms"),
        *results.at_least("zoom in 50 curves of 100,000 points at 30 frames/s", own, FRAMES, 30),
        *results.at_most("an idle page costs under 1 % of a core", own, IDLE, 1, "%"),
        *results.at_most("the bundle has at most 200 kB", own, BUNDLE, 200, "kB"),
    ]

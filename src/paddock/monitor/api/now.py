"""What happens at this moment, as `paddock top` shows it. One reader looks for all who ask."""

from __future__ import annotations

import threading
import time
import weakref
from typing import Annotated

from msgspec import Meta, Struct

from paddock.compare.select import parse
from paddock.monitor.house import House
from paddock.monitor.http.route import Call, Route
from paddock.monitor.now.details import Details
from paddock.monitor.now.picture import Line, Now
from paddock.monitor.now.source import HomeSource

FRESH_SECONDS = 0.5  # a picture is shown to everybody for so long
MOST_LINES, MOST_PICTURES = 500, 32


class NowParams(Struct, frozen=True):
    query: Annotated[str, Meta(max_length=4000, description="Only runs that fit, as `paddock ls` takes it.")] = ""


class LinesParams(Struct, frozen=True):
    after: Annotated[int, Meta(ge=0, le=2**53, description="The number of the last line that is known.")] = 0


class Lines(Struct, frozen=True):
    """`count`: how many there were since the server began. `instance`: which server since its start; another one counts
    anew."""

    lines: tuple[Line, ...]
    count: int
    instance: str


class Done(Struct, frozen=True):
    message: str


class Window:
    """The homes of a house, looked at through one reader; for one thread at a time."""

    def __init__(self, house: House) -> None:
        self._source = HomeSource([(home, house.catalog(home)) for home in house.homes])
        self._instance = house.hub.instance
        self._lock = threading.Lock()
        self._pictures: dict[str, tuple[float, Now]] = {}

    def look(self, query: str = "") -> Now:
        tree = parse(query, time.time()) if query else None
        with self._lock:
            made, found = self._pictures.get(query, (0.0, None))
            if found is None or time.monotonic() - made > FRESH_SECONDS:
                found = self._source.look() if tree is None else self._source.look_for(tree)
                if len(self._pictures) >= MOST_PICTURES:
                    self._pictures.clear()
                self._pictures[query] = (time.monotonic(), found)
            return found

    def lines(self, after: int) -> Lines:
        self.look()
        with self._lock:
            return Lines(self._source.lines(after)[-MOST_LINES:], self._source.line_count, self._instance)

    def details(self, run_id: str) -> Details:
        with self._lock:
            return self._source.details(run_id)

    def cancel(self, run_id: str) -> str:
        with self._lock:
            self._pictures.clear()
            return self._source.cancel(run_id)


_windows: weakref.WeakKeyDictionary[House, Window] = weakref.WeakKeyDictionary()
_making = threading.Lock()


def window(house: House) -> Window:
    with _making:
        if house not in _windows:
            _windows[house] = Window(house)
        return _windows[house]


def now(call: Call) -> Now:
    return window(call.house).look(call.params.query)


def lines(call: Call) -> Lines:
    return window(call.house).lines(call.params.after)


def details(call: Call) -> Details:
    return window(call.house).details(call.path["run"])


def cancel(call: Call) -> Done:
    return Done(window(call.house).cancel(call.path["run"]))


ROUTES = [
    Route("GET", "/api/v1/now", now, "What happens now: runs, tasks, workers, hosts.", NowParams, answer=Now),
    Route("GET", "/api/v1/now/lines", lines, "Log lines of all runs as they come.", LinesParams, answer=Lines),
    Route("GET", "/api/v1/now/runs/{run}", details, "All about one run, for the console.", answer=Details),
    Route("POST", "/api/v1/now/runs/{run}/cancel", cancel, "Cancel a task or a run.", answer=Done),
]

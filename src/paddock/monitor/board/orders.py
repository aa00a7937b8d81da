"""Which runs fit a query, in which order: kept for a while, since a table is asked for window by window.

For a hundred thousand runs this takes half a second, and while they train something changes several times in that time.
So an order that was dear may be somewhat older than the runs; what is shown of each run never is.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from paddock.compare.select import parse, select, sort_runs
from paddock.model import RunRow
from paddock.monitor.house import House

KEPT = 32
WORTH = 10.0  # what took a second is used for ten
CHEAP_SECONDS = 0.05
TIMED_SECONDS = 5.0  # a query may ask how long ago something was


class _Made(NamedTuple):
    version: int
    at: float
    cost: float
    value: Any


class Kept:
    """Answers that are dear, for as long as they are worth it."""

    def __init__(self) -> None:
        self._held: OrderedDict[Any, _Made] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Any, version: int, make: Callable[[], Any]) -> Any:
        with self._lock:
            found = self._held.get(key)
        now = time.monotonic()
        if found is not None:
            same = found.version == version and now - found.at < TIMED_SECONDS
            if same or (found.cost > CHEAP_SECONDS and now - found.at < WORTH * found.cost):
                return found.value
        value = make()
        ended = time.monotonic()
        with self._lock:
            self._held[key] = _Made(version, ended, ended - now, value)
            self._held.move_to_end(key)
            while len(self._held) > KEPT:
                self._held.popitem(last=False)
        return value


_kept: weakref.WeakKeyDictionary[House, Kept] = weakref.WeakKeyDictionary()


def kept(house: House) -> Kept:
    return _kept.setdefault(house, Kept())


def ordered(house: House, query: str, sort: Sequence[str]) -> list[str]:
    """The ids of the runs that fit, sorted; some of them may have gone since."""
    keys = tuple(key for item in sort for key in item.split(",") if key)

    def make() -> list[str]:
        now = time.time()
        rows = select([entry.row for entry in house.entries()], parse(query, now), now)
        return [row.id for row in (sort_runs(rows, *keys, now=now) if keys else rows)]

    found: list[str] = kept(house).get(("order", query, keys), house.version, make)
    return found


def rows_of(house: House, run_ids: Sequence[str]) -> list[RunRow]:
    """As they are now; those that have gone are left out."""
    found = []
    for run_id in run_ids:
        for roll in house.rolls:
            if (entry := roll.entries.get(run_id)) is not None:
                found.append(entry.row)
                break
    return found

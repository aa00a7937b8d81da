"""Which runs fit a query, in which order: kept for a while, since a table is asked for window by window.

For a hundred thousand runs this takes a third of a second, and while they train something changes several times in it.
So an order that was dear may be somewhat older than the runs, and says when it will be made anew; what is shown of each
run never is.
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


class Made(NamedTuple):
    """A value, the version of the runs that it was made of, when that was, and how many seconds it took."""

    value: Any
    version: int
    at: float
    cost: float

    @property
    def due(self) -> float:
        """When it is made anew for those who ask for a newer version."""
        return self.at + WORTH * self.cost if self.cost > CHEAP_SECONDS else self.at


class _Slot:
    """Whoever asks while it is being made waits for that, instead of making it a second time."""

    def __init__(self) -> None:
        self.making = threading.Lock()
        self.made: Made | None = None


class Kept:
    """Answers that are dear, for as long as they are worth it."""

    def __init__(self) -> None:
        self._slots: OrderedDict[Any, _Slot] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Any, version: int, make: Callable[[], Any], exact: bool = False) -> Made:
        """`exact`: of that version, however dear it is."""
        slot = self._slot(key)
        with slot.making:
            now = time.monotonic()
            if (made := slot.made) is not None:
                same = made.version == version and now - made.at < TIMED_SECONDS
                if same or (not exact and now < made.due):
                    return made
            value = make()
            ended = time.monotonic()
            slot.made = Made(value, version, ended, ended - now)
            return slot.made

    def _slot(self, key: Any) -> _Slot:
        with self._lock:
            slot = self._slots.setdefault(key, _Slot())
            self._slots.move_to_end(key)
            while len(self._slots) > KEPT:
                self._slots.popitem(last=False)
            return slot


_kept: weakref.WeakKeyDictionary[House, Kept] = weakref.WeakKeyDictionary()


def kept(house: House) -> Kept:
    return _kept.setdefault(house, Kept())


def chosen(house: House, query: str) -> list[str]:
    """The ids of the runs that fit, newest first. Found once for all that a page asks about them: its window, its
    keys, its groups."""

    def make() -> list[str]:
        now = time.time()
        return [row.id for row in select((entry.row for entry in house.entries()), parse(query, now), now)]

    found: list[str] = kept(house).get(("chosen", query), house.version, make, exact=True).value
    return found


def ordered(house: House, query: str, sort: Sequence[str]) -> Made:
    """The ids of the runs that fit, sorted; some of them may have gone since."""
    keys = tuple(key for item in sort for key in item.split(",") if key)

    def make() -> list[str]:
        ids = chosen(house, query)
        return [row.id for row in sort_runs(rows_of(house, ids), *keys, now=time.time())] if keys else ids

    return kept(house).get(("order", query, keys), house.version, make)


def rows_of(house: House, run_ids: Sequence[str]) -> list[RunRow]:
    """As they are now; those that have gone are left out."""
    found = []
    for run_id in run_ids:
        for roll in house.rolls:
            if (entry := roll.entries.get(run_id)) is not None:
                found.append(entry.row)
                break
    return found

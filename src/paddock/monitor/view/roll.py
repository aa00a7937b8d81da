"""The runs of one home as they are now: rows and their JSON, kept in memory, made anew only where something changed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Set
from typing import NamedTuple

from paddock.catalog import tasks
from paddock.catalog.catalog import Catalog
from paddock.catalog.tasks import Waiting
from paddock.model import RunRow
from paddock.monitor.http import encoding
from paddock.monitor.view import news
from paddock.record.layout import Home

JOURNALS, FOLLOWED, WATCHES = "journal", ("output", "logs"), "watches"


class Entry(NamedTuple):
    row: RunRow
    json: bytes


class Change(NamedTuple):
    """What a look has found: rows as they were (None: not there) and as they are, and the ids of those that went."""

    rows: tuple[tuple[RunRow | None, RunRow], ...] = ()
    removed: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.rows or self.removed)


class Roll:
    """`look` is called by one thread at a time; what it has made is read by all."""

    def __init__(self, home: Home, catalog: Catalog) -> None:
        self.home, self.catalog = home, catalog
        self.entries: dict[str, Entry] = {}
        self.ordered: tuple[Entry, ...] = ()  # newest first
        self.unreadable: tuple[str, ...] = ()
        self._version: tuple[int, int] | None = None
        self._waiting: dict[str, Waiting] = {}  # what waits in a queue
        self.queues_moved = False
        self.moved = True  # there are other directories than at the last look

    def concerned(self, told: Set[str] | None) -> Set[str] | None:
        """The runs that something was written to, given the directories where something happened; None: all of it has
        to be looked at."""
        if told is None:
            return None
        base, found = f"{self.home.runs}/", set()
        for path in told:
            run_id, _, what = path.removeprefix(base).partition("/")
            if path.startswith(base) and what in (JOURNALS, *FOLLOWED):
                if what == JOURNALS:
                    found.add(run_id)
            elif path.startswith(f"{self.home.path}/{WATCHES}") or not f"{path}/".startswith(f"{self.home.path}/"):
                continue  # of another home, or nothing that the index knows of
            else:
                return None
        return found if found <= self.entries.keys() else None

    def look(self, only: Set[str] | None = None, aged: bool = True) -> Change:
        """With `only` at these runs alone, and when some time is over at those whose state that may have changed."""
        self.moved = self.queues_moved = False
        if only is not None and self._version == self.catalog.version():
            if aged:
                only = only | set(self.catalog.unsettled())
            if not only:
                return Change()
            self.catalog.refresh_some(only)
            return self._take(self._some(only), frozenset())
        found = self.catalog.refresh()
        version = self.catalog.version()
        if version != self._version or found.tasks:
            rows = self.catalog.runs()
            gone: Set[str] = self.entries.keys() - {row.id for row in rows}
            before, self._waiting = self._waiting, self.catalog.waiting()
            self.queues_moved = _places(before) != _places(self._waiting)
        else:
            rows = self._some(found.touched | set(self.catalog.unsettled()))
            gone = (found.touched & self.entries.keys()) - {row.id for row in rows} - self._waiting.keys()
        self._version, self.unreadable = version, found.unreadable
        change = self._take(rows, gone)
        self.moved = found.tasks or bool(change.removed) or any(old is None for old, _ in change.rows)
        return change

    def _some(self, run_ids: Set[str]) -> list[RunRow]:
        return [tasks.shown(row, self._waiting.get(row.id)) for row in self.catalog.some_runs(run_ids)]

    def _take(self, rows: Iterable[RunRow], gone: Set[str]) -> Change:
        changed: list[tuple[RunRow | None, RunRow]] = []
        new: dict[str, Entry] = {}
        for row in rows:
            known = self.entries.get(row.id)
            if known is not None and known.row == row:
                continue
            data = encoding.run(row)
            if known is None or known.json != data:  # a NaN in the config is not equal to itself
                new[row.id] = Entry(row, data)
                changed.append((known.row if known else None, row))
        removed = tuple(gone)
        if changed or removed:
            entries = {key: entry for key, entry in self.entries.items() if key not in gone}
            entries |= new  # in a dict of their own: readers go on with the old one
            self.entries = entries
            order = sorted(entries.values(), key=lambda entry: (entry.row.created, entry.row.id), reverse=True)
            self.ordered = tuple(order)
        return Change(tuple(changed), removed)

    def directories(self) -> dict[str, int]:
        """What the kernel is to tell of: runs that come and go, what is written to each, what moves in the queues."""
        base, queues = str(self.home.runs), str(self.home.queues)
        found = {str(self.home.path): news.NAMES, base: news.NAMES, queues: news.NAMES}
        found |= {f"{base}/{run_id}/journal": news.WRITES for run_id in self.entries}
        for queue in _folders(queues):
            found[queue] = news.NAMES
            for state in _folders(queue):
                found[state] = news.NAMES
                found |= dict.fromkeys(_folders(state), news.NAMES) if state.endswith("/tasks") else {}
        watches = f"{self.home.path}/{WATCHES}"
        found[watches] = news.NAMES
        found |= {f"{watch}/ledger": news.NAMES for watch in _folders(watches)}
        return found


def _places(waiting: dict[str, Waiting]) -> set[tuple[str, str, str]]:
    return {(run_id, task.state, task.queue) for run_id, task in waiting.items()}


def _folders(path: str) -> list[str]:
    try:
        with os.scandir(path) as scan:
            return [entry.path for entry in scan if entry.is_dir() and not entry.name.startswith(".")]
    except OSError:
        return []

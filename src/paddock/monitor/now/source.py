"""Where a picture comes from: homes on disks that we see, or a server that sees them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Protocol

from paddock.catalog.catalog import Catalog
from paddock.compare.select import EVERYTHING, Query, parse
from paddock.errors import RunNotFound
from paddock.monitor.now import details, orders
from paddock.monitor.now.details import Details
from paddock.monitor.now.lines import LineReader, Subject
from paddock.monitor.now.picture import Line, Now
from paddock.monitor.now.reader import HomeReader
from paddock.record.layout import Home


class Source(Protocol):
    """For one thread at a time. What goes wrong is a PaddockError."""

    def look(self) -> Now: ...

    def lines(self, after: int) -> tuple[Line, ...]:
        """Log lines behind the n-th, as far as they are still kept; after a look."""

    def details(self, run_id: str) -> Details: ...

    def cancel(self, run_id: str) -> str:
        """What was done, as a sentence."""

    def answer(self, run_id: str, ask: str, text: str) -> str: ...

    def close(self) -> None: ...


class HomeSource:
    """One home, or several as if they were one."""

    def __init__(self, homes: Sequence[tuple[Home, Catalog]], query: str = "") -> None:
        self._query = parse(query, time.time()) if query else EVERYTHING
        self._readers = [HomeReader(home, catalog) for home, catalog in homes]
        self._lines = LineReader()
        self._subjects: list[Subject] = []

    def look(self) -> Now:
        """Lines are told of the runs that this has found."""
        looks = self._looks(self._query)
        self._subjects = [
            Subject(run.id, run.name, run.host, f"{home.runs}/{run.id}") for home, now in looks for run in now.runs
        ]
        return _merged([now for _, now in looks])

    def look_for(self, query: Query) -> Now:
        """For one of several who look through this; whose lines are told stays as it is."""
        return _merged([now for _, now in self._looks(query)])

    def _looks(self, query: Query) -> list[tuple[Home, Now]]:
        return [(reader.home, reader.look(query)) for reader in self._readers]

    @property
    def line_count(self) -> int:
        return self._lines.count

    def lines(self, after: int) -> tuple[Line, ...]:
        self._lines.look(self._subjects)
        return self._lines.after(after)

    def details(self, run_id: str) -> Details:
        return details.read(self._holder(run_id).catalog, run_id)

    def cancel(self, run_id: str) -> str:
        reader = self._holder(run_id)
        return orders.cancel(reader.home, reader.catalog, run_id)

    def answer(self, run_id: str, ask: str, text: str) -> str:
        reader = self._holder(run_id)
        return orders.answer(reader.home, reader.catalog, run_id, ask, text)

    def close(self) -> None:
        for reader in self._readers:
            reader.catalog.close()

    def _holder(self, run_id: str) -> HomeReader:
        """Of a run or a task."""
        for reader in self._readers:
            if reader.knows(run_id):
                return reader
        raise RunNotFound(f"There is no run {run_id}.", hint="It may have been removed.")


def _merged(looks: Sequence[Now]) -> Now:
    if len(looks) == 1:
        return looks[0]
    counts: dict[str, int] = {}
    for now in looks:
        for name, count in now.counts.items():
            counts[name] = counts.get(name, 0) + count
    return Now(
        time=looks[0].time,
        home=", ".join(now.home for now in looks),
        host=looks[0].host,
        counts=counts,
        runs=tuple(run for now in looks for run in now.runs),
        queues=tuple(queue for now in looks for queue in now.queues),
        tasks=tuple(task for now in looks for task in now.tasks),
        workers=tuple(worker for now in looks for worker in now.workers),
        watches=tuple(watch for now in looks for watch in now.watches),
        hosts=tuple({host.name: host for now in looks for host in now.hosts}.values()),
        questions=tuple(question for now in looks for question in now.questions),
        alerts=tuple(sorted((alert for now in looks for alert in now.alerts), key=lambda alert: -alert.time)[:20]),
        troubles=tuple(trouble for now in looks for trouble in now.troubles),
    )

"""One run's files, as they are and as far as the server has them."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterator
from typing import Any

from paddock import files, wire
from paddock.record.layout import Home
from paddock.record.pack import gone_from_here
from paddock.record.scan import header
from paddock.track.ship import luggage, names, source
from paddock.track.ship.cargo import Cargo
from paddock.track.ship.entries import entries
from paddock.track.ship.source import Found

_SETTLED_SECONDS = 2.0  # a saved file that changed later may be half written
_WALK_SECONDS = 2.0  # between two looks at saved files


class Load:
    def __init__(self, home: Home, run_id: str) -> None:
        self._home, self.id = home, run_id
        self.facts: Cargo | None = None
        self.code: list[str] = []  # digests that run.json names
        self.streams: dict[str, Cargo] = {}
        self.wholes: dict[str, Cargo] = {}
        self.stamp = 0  # of what the server had to say when it was asked last
        self._walked = -1e9  # when the saved files were looked at
        self._walk_took = 0.0

    @property
    def refused(self) -> str:
        return self.facts.refused if self.facts is not None else ""

    @property
    def left(self) -> int:
        return 0 if self.refused else sum(cargo.left for cargo in self.all())

    @property
    def begun(self) -> bool:
        """The server knows whose run this is, or nobody says it."""
        return self.facts is None or self.facts.done

    def all(self) -> Iterator[Cargo]:
        if self.facts is not None:
            yield self.facts
        yield from self.streams.values()
        yield from self.wholes.values()

    def look(self, final: bool) -> None:
        if self.refused:
            return
        if self.facts is None:
            self._look_at_facts()
        for found in source.streams(self._home, self.id):
            known = self.streams.get(found.path)
            if known is not None:
                known.update(found)
            elif source.can_be_sent(found):
                self.streams[found.path] = Cargo(names.STREAM, self.id, found)
        now = time.monotonic()
        if final or now - self._walked > max(_WALK_SECONDS, 50 * self._walk_took):
            self._walk(final)
            self._walked, self._walk_took = now, time.monotonic() - now

    def gone(self, cargo: Cargo, quiet: float) -> bool:
        """Whether the process that wrote a journal has ended: it was of this host, is not there, and has not written
        for so many seconds (it could be in a container, where we do not see it)."""
        found = cargo.found
        try:
            if time.time() - os.stat(found.source).st_mtime < quiet:
                return False
            return gone_from_here(header(found.source, found.packed))
        except (OSError, EOFError):
            return False

    def _look_at_facts(self) -> None:
        path = f"{self._home.runs}/{self.id}/run.json"
        try:
            data = files.read_from(path, 0)
            facts: Any = wire.loads(data)
        except (OSError, wire.DecodeError, UnicodeDecodeError):
            return
        found = Found(f"runs/{self.id}/run.json", path, len(data))
        self.facts = Cargo(names.FACTS, self.id, found, data, hashlib.sha256(data).hexdigest())
        self.code = luggage.of_facts(facts)

    def _walk(self, final: bool) -> None:
        settled = time.time_ns() - int(_SETTLED_SECONDS * 1e9)
        for found in source.wholes(self._home, self.id):
            known = self.wholes.get(found.path)
            if known is not None:
                known.update(found)
            elif (final or found.mtime < settled) and source.can_be_sent(found):
                self.wholes[found.path] = Cargo(names.WHOLE, self.id, found)
        for path, data, mark in entries(self._home, self.id):
            if mark not in self.wholes:
                self.wholes[mark] = Cargo(names.ENTRY, self.id, Found(path, "", len(data)), data, mark)

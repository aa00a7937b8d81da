"""What a look at the homes has found, as events for those who listen."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from paddock.model import RUNNING, Question
from paddock.monitor.http import encoding
from paddock.monitor.live import changes
from paddock.monitor.live.following import Followed, Points, followed, look
from paddock.monitor.live.hub import LINGER_SECONDS
from paddock.monitor.view import news
from paddock.monitor.view.roll import WATCHES, Change, Roll

if TYPE_CHECKING:
    from paddock.monitor.house import House

MOST_BYTES = 256 << 10  # of one event about runs; who would get more asks for the list
NOTHING = b"{}"


class Told(NamedTuple):
    topic: str
    kind: str
    body: bytes


class Teller:
    """By the thread that looks; `topics` is what somebody listens to."""

    def __init__(self, house: House, topics: Callable[[], frozenset[str]]) -> None:
        self._house, self._topics = house, topics
        self._followed: dict[str, Followed] = {}
        self._wanted: dict[str, float] = {}  # when each was last listened to
        self._questions: dict[str, list[Question]] | None = None
        self._ledgers: dict[str, int] | None = None

    def begin(self, topics: Sequence[str]) -> None:
        """From here on: what comes later is told to those who listen then. Nobody looks meanwhile."""
        for topic in topics:
            if topic not in self._followed and (made := followed(topic)) is not None:
                self._followed[topic] = made
                self._look(topic)
            self._wanted[topic] = time.monotonic()

    def directories(self) -> dict[str, int]:
        """What else the kernel is to tell of."""
        found: dict[str, int] = {}
        for one in self._followed.values():
            where = self._house.where(one.run) if not isinstance(one, Points) else None
            if where is not None:
                found |= {str(where.output): news.WRITES, str(where.logs): news.WRITES, str(where.path): news.NAMES}
        return found

    def tell(self, told: set[str] | None, found: Sequence[tuple[Roll, Change]], version: int) -> list[Told]:
        topics = self._topics()
        self._forget(topics)
        events: list[Told] = []
        if found and "runs" in topics:
            events += [_runs(version, roll, change) for roll, change in found]
        if "queues" in topics and any(roll.queues_moved for roll in self._house.rolls):
            events.append(Told("queues", "queues", encoding.encode({"version": version})))
        if "watches" in topics:
            events += self._watches()
        touched = {row.id for _, change in found for _, row in change.rows}
        if "questions" in topics:
            events += self._asked(touched)
        for topic, one in self._followed.items():
            if topic in topics and (not isinstance(one, Points) or one.run in touched):
                kind = topic.partition("/")[0]
                events += [Told(topic, kind, body) for body in self._look(topic)]
        return events

    def _look(self, topic: str) -> list[bytes]:
        one = self._followed[topic]
        for roll in self._house.rolls:
            entry = roll.entries.get(one.run)
            if entry is not None:
                return look(one, roll.catalog, entry.row, roll.home.run(one.run))
        return []

    def _forget(self, topics: frozenset[str]) -> None:
        now = time.monotonic()
        for topic in list(self._followed):
            if topic in topics:
                self._wanted[topic] = now
            elif now - self._wanted.get(topic, 0.0) > LINGER_SECONDS:
                del self._followed[topic]
                self._wanted.pop(topic, None)
        if "questions" not in topics:
            self._questions = None
        if "watches" not in topics:
            self._ledgers = None

    def _asked(self, touched: set[str]) -> list[Told]:
        before = self._questions
        found: dict[str, list[Question]] = dict(before or {})
        for roll in self._house.rolls:
            if before is None:
                for asked in roll.catalog.questions():
                    found.setdefault(asked.run, []).append(asked)
                continue
            for run_id in (touched | found.keys()) & roll.entries.keys():
                running = roll.entries[run_id].row.state == RUNNING
                found[run_id] = roll.catalog.questions(run_id) if running else []
        self._questions = {run_id: asked for run_id, asked in found.items() if asked}
        if before is None or before == self._questions:
            return []
        every = sorted((one for some in self._questions.values() for one in some), key=lambda one: one.asked)
        return [Told("questions", "questions", encoding.encode({"questions": every}))]

    def _watches(self) -> list[Told]:
        found: dict[str, int] = {}
        for roll in self._house.rolls:
            base = f"{roll.home.path}/{WATCHES}"
            try:
                names = os.listdir(base)
            except OSError:
                continue
            for name in names:
                try:
                    found[name] = os.stat(f"{base}/{name}/ledger").st_mtime_ns
                except OSError:
                    continue
        before, self._ledgers = self._ledgers, found
        if before is None or before == found:
            return []
        moved = sorted(name for name, mtime in found.items() if before.get(name) != mtime)
        return [Told("watches", "watches", encoding.encode({"watches": moved}))]


def _runs(version: int, roll: Roll, change: Change) -> Told:
    new, rest = changes.told(version, change.rows, change.removed)
    rows = [roll.entries[run_id].json for run_id in new if run_id in roll.entries]
    if sum(map(len, rows)) > MOST_BYTES:
        return Told("runs", "resync", NOTHING)
    body = b'{"new":[%b],%b' % (b",".join(rows), encoding.encode(rest)[1:])
    return Told("runs", "runs", body) if len(body) <= MOST_BYTES else Told("runs", "resync", NOTHING)

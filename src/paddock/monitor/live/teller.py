"""What a look at the homes has found, as events for those who listen."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Sequence
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
        self._begun: set[str] = set()  # not told of since: what looks found before somebody listened is told, too

    def begin(self, topics: Sequence[str]) -> None:
        """From here on: what comes later is told to those who listen then. Nobody looks meanwhile."""
        for topic in topics:
            if topic not in self._followed and (made := followed(topic)) is not None:
                self._followed[topic] = made
                self._look(topic)
            self._wanted[topic] = time.monotonic()
        self._begun.update(topics)
        if "questions" in topics and self._questions is None:
            self._questions = self._open()
        if "watches" in topics and self._ledgers is None:
            self._ledgers = self._ledger_times()

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
            events += self._watches(told or ())
        touched = {row.id for _, change in found for _, row in change.rows}
        if "questions" in topics:
            events += self._asked(touched)
        for topic, one in self._followed.items():
            if topic in topics and (not isinstance(one, Points) or one.run in touched or topic in self._begun):
                kind = topic.partition("/")[0]
                events += [Told(topic, kind, body) for body in self._look(topic)]
        self._begun -= topics
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
        for topic in list(self._wanted):
            if topic in topics:
                self._wanted[topic] = now
            elif now - self._wanted[topic] > LINGER_SECONDS:
                del self._wanted[topic]
                self._begun.discard(topic)
                self._followed.pop(topic, None)
                if topic == "questions":
                    self._questions = None
                elif topic == "watches":
                    self._ledgers = None

    def _asked(self, touched: set[str]) -> list[Told]:
        before = self._questions
        if before is None or "questions" in self._begun:
            self._questions = self._open()
        else:
            found = dict(before)
            for roll in self._house.rolls:
                for run_id in (touched | found.keys()) & roll.entries.keys():
                    running = roll.entries[run_id].row.state == RUNNING
                    found[run_id] = roll.catalog.questions(run_id) if running else []
            self._questions = {run_id: asked for run_id, asked in found.items() if asked}
        if before is None or before == self._questions:
            return []
        every = sorted((one for some in self._questions.values() for one in some), key=lambda one: one.asked)
        return [Told("questions", "questions", encoding.encode({"questions": every}))]

    def _open(self) -> dict[str, list[Question]]:
        """What is asked, by run."""
        found: dict[str, list[Question]] = {}
        for roll in self._house.rolls:
            for asked in roll.catalog.questions():
                found.setdefault(asked.run, []).append(asked)
        return found

    def _watches(self, told: Collection[str]) -> list[Told]:
        before, found = self._ledgers, self._ledger_times()
        self._ledgers = found
        if before is None:
            return []
        moved = {name for name, mtime in found.items() if before.get(name) != mtime}
        # Two entries within one tick of the disk's clock leave the same time: the kernel tells of the second.
        moved |= {name for path in told if (name := self._ledger_of(path)) in found}
        if not moved and before.keys() == found.keys():
            return []
        return [Told("watches", "watches", encoding.encode({"watches": sorted(moved)}))]

    def _ledger_of(self, path: str) -> str:
        """The watch that a directory is the ledger of; else nothing."""
        for roll in self._house.rolls:
            name, _, what = path.removeprefix(f"{roll.home.path}/{WATCHES}/").partition("/")
            if what == "ledger":
                return name
        return ""

    def _ledger_times(self) -> dict[str, int]:
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
        return found


def _runs(version: int, roll: Roll, change: Change) -> Told:
    new, rest = changes.told(version, change.rows, change.removed)
    rows = [roll.entries[run_id].json for run_id in new if run_id in roll.entries]
    if sum(map(len, rows)) > MOST_BYTES:
        return Told("runs", "resync", NOTHING)
    body = b'{"new":[%b],%b' % (b",".join(rows), encoding.encode(rest)[1:])
    return Told("runs", "runs", body) if len(body) <= MOST_BYTES else Told("runs", "resync", NOTHING)

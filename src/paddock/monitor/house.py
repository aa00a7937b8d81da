"""What a server shows: one or more homes, kept in view for all requests and all who listen."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import threading
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from paddock.catalog import naming
from paddock.catalog.catalog import Catalog
from paddock.errors import Ambiguous, RunNotFound
from paddock.monitor.entrance.login import Codes
from paddock.monitor.ingest.desk import Desk
from paddock.monitor.live.hub import Hub
from paddock.monitor.live.teller import Teller, Told
from paddock.monitor.now.distant import Distant
from paddock.monitor.view.encoded import Encoded
from paddock.monitor.view.news import News
from paddock.monitor.view.refresher import Refresher
from paddock.monitor.view.roll import Change, Entry, Roll
from paddock.monitor.watches import Standings
from paddock.queue.protocol import Queue
from paddock.record.layout import ID_PATTERN, Home, RunDirectory
from paddock.settings import Settings

_LOOKS = 3


class Found(NamedTuple):
    """A run, and where it is."""

    home: Home
    entry: Entry

    @property
    def directory(self) -> RunDirectory:
        return self.home.run(self.entry.row.id)


class House:
    """The first of the homes is the one that clients' journals are received into."""

    def __init__(self, homes: Sequence[Home], settings: Settings, token: str) -> None:
        self.homes, self.settings, self.token = tuple(homes), settings, token
        self.instance = secrets.token_hex()  # this server since its start
        self.codes = Codes(token, self.instance)
        self.encoded = Encoded()
        self.standings = Standings()
        self.describe: Callable[[], bytes] = lambda: b"{}"  # the OpenAPI document
        self.version = 0  # of all that is shown; another one after each change
        self.rolls: tuple[Roll, ...] = ()
        self._readers: dict[Path, Catalog] = {}
        self._distants: dict[str, Distant] = {}
        self._opening = threading.Lock()
        self._news = News([home.path for home in self.homes])
        self.hub = Hub(self.instance)
        self._topics: frozenset[str] = frozenset()
        self.hub.on_topics = self._note_topics
        self._teller = Teller(self, lambda: self._topics)
        self._followed = False  # other directories are to be watched
        self.refresher = Refresher(self._look, self._news, lambda: self.hub.interest)
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def home(self) -> Home:
        return self.homes[0]

    @cached_property
    def desk(self) -> Desk:
        """Where clients leave what they send."""
        return Desk(self.home)

    async def open(self) -> None:
        """When the server begins to listen."""
        self._loop = asyncio.get_running_loop()
        self.rolls = tuple(Roll(home, Catalog.open(home, self.settings)) for home in self.homes)
        self.refresher.start()

    def hang_up(self) -> None:
        """The server is about to end: let go of those who listen."""
        self.hub.close()

    async def close(self) -> None:
        """When it has ended; nothing is asked any more."""
        if "desk" in vars(self):
            await asyncio.to_thread(self.desk.close)
        self.refresher.stop()
        for catalog in (*self._readers.values(), *(roll.catalog for roll in self.rolls)):
            catalog.close()
        self._readers.clear()
        self.rolls = ()

    def fresh(self, at_once: bool = False) -> None:
        self.refresher.fresh(at_once)

    def find(self, name: str) -> Found:
        """By id, by name, or by a beginning that fits one run only. A run that is in two homes is taken from the
        first."""
        found = self._known(name)
        if found is None and self._is_new(name):
            self.fresh(at_once=True)
            found = self._known(name)
        return found or self._fitting(name)

    def _known(self, run_id: str) -> Found | None:
        for roll in self.rolls:
            if run_id in roll.entries:
                return Found(roll.home, roll.entries[run_id])
        return None

    def _is_new(self, name: str) -> bool:
        """It is on the disk, as a run or as a task that waits for its first attempt, and was not looked at yet: after
        a look that was dear there is none for a while, and who has heard of it elsewhere must not be told that it is
        not there."""
        return bool(ID_PATTERN.fullmatch(name)) and any(
            home.run(name).facts.exists() or any(home.queues.glob(f"*/*/{name}")) for home in self.homes
        )

    def _fitting(self, name: str) -> Found:
        known = {entry.row.id: (roll, entry) for roll in reversed(self.rolls) for entry in roll.ordered}
        names = [(run_id, entry.row.name) for run_id, (_, entry) in known.items()]
        fitting = naming.fitting(name, names)
        if len(fitting) == 1:
            roll, entry = known[fitting[0]]
            return Found(roll.home, entry)
        if fitting:
            lines = tuple(f"{known[one][1].row.id}  {known[one][1].row.name}" for one in fitting[:10])
            raise Ambiguous(
                f"{name!r} fits {len(fitting)} runs.", lines, hint=f"Use the id: {', '.join(fitting[:10])}."
            )
        near = naming.near(name, names)
        hint = f"Did you mean {' or '.join(near)}?" if near else "GET /api/v1/runs lists the runs."
        raise RunNotFound(f"There is no run {name!r}.", hint=hint)

    def entries(self) -> list[Entry]:
        """Every run once, newest first."""
        if len(self.rolls) == 1:
            return list(self.rolls[0].ordered)
        known = {entry.row.id: entry for roll in reversed(self.rolls) for entry in roll.ordered}
        return sorted(known.values(), key=lambda entry: (entry.row.created, entry.row.id), reverse=True)

    def catalog(self, home: Home) -> Catalog:
        """To ask for points and records: beside the one that takes in what is new, which may be busy for long."""
        with self._opening:
            found = self._readers.get(home.path)
            if found is None:
                found = self._readers[home.path] = Catalog.open(home, self.settings)
                if found.path is None:  # in memory: there is nothing in a second one
                    found.close()
                    found = self._readers[home.path] = self._roll(home).catalog
            return found

    def _roll(self, home: Home) -> Roll:
        return next(roll for roll in self.rolls if roll.home == home)

    def distant(self, queue: Queue) -> Distant:
        """A queue that is asked by a thread of its own."""
        with self._opening:
            return self._distants.setdefault(queue.address, Distant(queue, 0))

    def where(self, run_id: str) -> RunDirectory | None:
        return next((roll.home.run(run_id) for roll in self.rolls if run_id in roll.entries), None)

    def follow(self, topics: Sequence[str]) -> None:
        """Before somebody begins to listen to them: from now on nothing is missed."""
        with self.refresher.paused():
            self._teller.begin(topics)
            self._followed = True
            self._watch()

    def _note_topics(self) -> None:
        self._topics = self.hub.topics
        self._followed = True
        self.refresher.poke()

    def _look(self, told: set[str] | None, aged: bool) -> None:
        """By one thread at a time."""
        found: list[tuple[Roll, Change]] = []
        for _ in range(_LOOKS):
            found += [(roll, change) for roll in self.rolls if (change := roll.look(roll.concerned(told), aged))]
            if not self._watch():
                break
            told = None  # something may have been written before we watched it
        if found:
            self.version += 1
        events = self._teller.tell(told, found, self.version)
        if events and self._loop is not None:
            with contextlib.suppress(RuntimeError):  # it ends just now
                self._loop.call_soon_threadsafe(self._publish, events)

    def _watch(self) -> bool:
        """Let the kernel tell of all that is there now; whether some of it is new."""
        if not self._followed and not any(roll.moved for roll in self.rolls):
            return False
        self._followed = False
        wanted = {path: mask for roll in self.rolls for path, mask in roll.directories().items()}
        return self._news.watch(wanted | self._teller.directories())

    def _publish(self, events: Sequence[Told]) -> None:
        for event in events:
            self.hub.publish(event.topic, event.kind, event.body)

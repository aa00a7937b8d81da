"""A process that watches: its file says that it lives, and removing the file stops it.

    watchers/<name>           a counter, host and pid, as in a worker's file; `rm` it to stop the watcher
    watchers/<name>.json      what it watches, and with what
    watchers/<name>.finish    asks it to see to what is there, and then to end

One for each process, however many directories it watches. Whether it lives is judged as of a worker: on this host by
its process, elsewhere by the age of its last sign of life.
"""

from __future__ import annotations

import contextlib
import os
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import msgspec

from paddock import files, wire
from paddock.queue.lease import Lease, worker_name
from paddock.queue.show import roster
from paddock.record.layout import Home

FACTS, FINISH = ".json", ".finish"
STOP = "stop"
_GLANCE_SECONDS = 0.5  # between two looks for orders


class Post(msgspec.Struct, frozen=True, kw_only=True):
    """One directory that is watched."""

    watch: str  # the id
    directory: str
    evaluators: dict[str, dict[str, str]]  # name -> how it is called


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    posts: tuple[Post, ...]
    queues: tuple[str, ...]  # where the evaluations go
    globs: tuple[str, ...] = ()  # whose directories are watched as they appear
    started: float
    detached: bool = False
    log: str = ""
    workers: tuple[tuple[int, str], ...] = ()  # that it started: pid and start time


class Seen(NamedTuple):
    """A watcher as an onlooker sees it."""

    name: str
    host: str
    pid: int
    start: str
    state: str  # alive, silent or dead
    silence: float  # seconds since its last sign of life
    here: bool  # on this machine, so that it can be signalled
    own: bool  # it belongs to this user
    facts: Facts

    def at(self, watch: str) -> list[Post]:
        """Several, where two tables name one directory."""
        return [post for post in self.facts.posts if post.watch == watch]

    @property
    def directories(self) -> list[str]:
        return list(dict.fromkeys(post.directory for post in self.facts.posts))

    def awaits(self, pattern: str) -> bool:
        """Whether it watches what fits this pattern as soon as it is there."""
        return wire.text(pattern) in self.facts.globs


@dataclass
class Watcher:
    """Held by the watching process itself."""

    home: Home
    facts: Facts
    beat: float  # seconds between two signs of life

    def __post_init__(self) -> None:
        self._directory = directory(self.home)
        self._directory.mkdir(parents=True, exist_ok=True)
        self.name = worker_name()
        self._write()
        self._lease = Lease(self._directory, self.name)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._live, name="watcher", daemon=True)
        self.order = ""  # what somebody wants of us
        self._thread.start()

    def add(self, *workers: tuple[int, str]) -> None:
        """Remember who evaluates for us, so that they are found should we die."""
        self.facts = msgspec.structs.replace(self.facts, workers=(*self.facts.workers, *workers))
        self._write()

    def take(self, *posts: Post) -> None:
        """More directories are watched from now on."""
        self.facts = msgspec.structs.replace(self.facts, posts=(*self.facts.posts, *posts))
        self._write()

    def close(self) -> None:
        self._over.set()
        self._thread.join()
        self._lease.drop()
        for end in (FACTS, FINISH):
            with contextlib.suppress(OSError):
                os.unlink(self._directory / (self.name + end))

    def _write(self) -> None:
        files.replace(self._directory / (self.name + FACTS), wire.encode(self.facts))

    def _live(self) -> None:
        glances = max(1, round(self.beat / _GLANCE_SECONDS))
        number = 0
        while not self._over.wait(_GLANCE_SECONDS):
            number += 1
            if number % glances == 0:
                self._lease.renew()
            with contextlib.suppress(OSError):  # a directory that cannot be listed orders nothing
                names = os.listdir(self._directory)
                if self.name not in names:
                    self.order = STOP
                elif self.name + FINISH in names and self.order != STOP:
                    self.order = FINISH


def directory(home: Home) -> Path:
    return home.path / "watchers"


def watchers(home: Home) -> list[Seen]:
    """All that have a file, by name."""
    place = directory(home)
    found = []
    for one in roster.seen(place, place):
        facts = _facts(place / (one.name + FACTS))
        who = one.identity
        own = _owner(place / one.name) in (os.getuid(), None)
        found.append(Seen(one.name, who.host, who.pid, who.start, one.state, one.silence, who.is_here(), own, facts))
    return found


def ask_to_finish(home: Home, name: str) -> None:
    files.replace(directory(home) / (name + FINISH), b"\n")


def remove(home: Home, name: str) -> None:
    """The order to stop; of a dead one, all that is left of it."""
    for end in ("", FACTS, FINISH):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(directory(home) / (name + end))


def _facts(path: Path) -> Facts:
    try:
        return msgspec.convert(wire.loads(path.read_bytes()), Facts)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return Facts(posts=(), queues=(), started=0.0)  # it is just being written, or taken away


def _owner(path: Path) -> int | None:
    try:
        return os.stat(path).st_uid
    except OSError:
        return None

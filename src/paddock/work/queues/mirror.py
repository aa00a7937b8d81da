"""The names in a queue's directories, kept in memory: a hundred thousand of them are listed once, and again only when
something has changed. On a local disk the kernel says what changed; elsewhere a directory's own time says that
something did, and a listing says what.

A mirror may be a moment behind. So it only says where to look: whoever acts on a name finds out by its rename, and
whoever would act on a name that is missing (a removed task, a removed parent) asks a fresh listing first.
"""

from __future__ import annotations

import os
import time

import msgspec

from paddock.queue.directory import DirectoryQueue, Listing
from paddock.queue.lifecycle import ACTIVE, CHECKING, DONE, FAILED, OWNED, PAUSED, QUEUED, Place, place
from paddock.record.filesystem import is_local
from paddock.record.wake import Change, Wake

WORKERS = "workers"
# In the order a task goes through them: one that moves on between two listings is seen at least once.
ORDER = (QUEUED, PAUSED, CHECKING, ACTIVE, FAILED, DONE, WORKERS)
POLL_SECONDS = 1.0  # between two looks at a directory's time, where the kernel does not tell
LISTEN_SECONDS = 30.0  # between two listings to be safe, where it does
DUE_SECONDS = 1.0  # between two questions whether a listing is due, where the kernel tells
DELAY_SECONDS = 2.0  # at most, between two listings of a directory that changes all the time and takes long to list
SETTLED_SECONDS = 2.0  # a listing so soon after a change may have missed another with the same time stamp
THRIFT = 300  # listings to be safe take at most one part in so many of the time


class Listed(msgspec.Struct):
    """What is known of one directory."""

    names: set[str] = msgspec.field(default_factory=set)
    owned: dict[str, set[str]] = msgspec.field(default_factory=dict)  # names with a token, by the task's id
    odd: set[str] = msgspec.field(default_factory=set)  # ids of tasks whose name says more than the id
    stamp: int = -1  # the directory's time at the last look
    since: float = 0.0  # when that was first seen
    at: float = -1e9  # of the last listing
    looked: float = -1e9
    cost: float = 0.0  # seconds that a listing takes


class Mirror:
    def __init__(self, queue: DirectoryQueue, *, listen: bool = True) -> None:
        self.queue = queue
        self.listed = {directory: Listed() for directory in ORDER}
        self._paths = {directory: queue.directory(directory) for directory in ORDER} | {WORKERS: queue.workers}
        # Files are edited where they wait; elsewhere only coming and going matters.
        watched = {name: (path, name == QUEUED) for name, path in self._paths.items()}
        self._wake = Wake(watched if listen and is_local(queue.path) else {})
        self._all = True  # list everything at the next look
        self._due = 0.0  # when a listing may be due

    @property
    def fd(self) -> int:
        return self._wake.fd

    def names(self, state: str) -> set[str]:
        return self.listed[state].names

    def refresh(self, now: float) -> list[Change]:
        """What has changed since the last call."""
        changes = []
        if self._wake.fd >= 0:
            told = self._wake.read()
            if told is None:
                self._all = True
            else:
                changes = [change for change in told if self._apply(change)]
        everything, self._all = self._all, False
        if everything or now >= self._due:
            for directory in ORDER:
                if everything or self._is_due(directory, now):
                    changes += self._list(directory, now)
            self._due = now + (DUE_SECONDS if self._wake.fd >= 0 else POLL_SECONDS / 10)
        return changes

    def claims(self) -> Listing:
        """Every name that some worker has put its token on, and every one where such names belong."""
        names = [(state, name) for state in ORDER[:-1] for same in self.listed[state].owned.values() for name in same]
        names += [(state, name) for state in OWNED for name in self.listed[state].names if "~" not in name]
        places = [found for state, name in names if (found := place(state, name)) is not None]
        return Listing(places, [], self.queue.is_there())

    def moved(self, at: Place, to: Place) -> None:
        """We did it ourselves."""
        self._apply(Change(at.state, at.name, False))
        self._apply(Change(to.state, to.name, True))

    def forget(self, state: str, name: str) -> None:
        """Somebody found that it is not there."""
        self._apply(Change(state, name, False))

    def state(self, task: str) -> str:
        """Where a task is; "" when it is nowhere, or on its way."""
        for state in (DONE, FAILED, ACTIVE, CHECKING, PAUSED, QUEUED):
            if task in self.listed[state].names or task in self.listed[state].odd:
                return state
        return ""

    def is_owned(self, task: str) -> bool:
        """Whether some worker has put its token on a file of it."""
        return any(task in self.listed[state].owned for state in OWNED)

    def has_rival(self, mine: Place) -> bool:
        """Whether a worker has another file of this task."""
        same = (self.listed[state].owned.get(mine.id, ()) for state in (ACTIVE, PAUSED))
        return any(name != mine.name for names in same for name in names)

    def _apply(self, change: Change) -> bool:
        directory, name, here, _ = change
        listed = self.listed.get(directory)
        if listed is None:  # where cancelled tasks wait for their end
            return False
        known = name in listed.names
        act = set.add if here else set.discard
        act(listed.names, name)
        if "~" in name:
            task = task_id(name)
            same = listed.owned.setdefault(task, set())
            act(same, name)
            if same:  # perhaps another worker's, which is still there
                listed.odd.add(task)
            else:
                del listed.owned[task]
                listed.odd.discard(task)
        elif "@" in name:
            act(listed.odd, task_id(name))
        return known or here

    def _is_due(self, directory: str, now: float) -> bool:
        listed = self.listed[directory]
        if now - listed.at > max(LISTEN_SECONDS, THRIFT * listed.cost):
            return True
        if self._wake.fd >= 0 or now - listed.looked < POLL_SECONDS * 0.9:
            return False
        if now - listed.at < min(10 * listed.cost, DELAY_SECONDS):
            return False  # a long queue that always changes must not be all that we do
        listed.looked = now
        stamp = self._stamp(directory)
        if stamp != listed.stamp:
            listed.stamp, listed.since = stamp, now
            return True
        return listed.at - listed.since < SETTLED_SECONDS

    def _stamp(self, directory: str) -> int:
        """By an open descriptor: with that a network disk asks its server."""
        try:
            descriptor = os.open(self._paths[directory], os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError:
            return -1
        try:
            return os.fstat(descriptor).st_mtime_ns
        except OSError:
            return -1
        finally:
            os.close(descriptor)

    def _list(self, directory: str, now: float) -> list[Change]:
        listed = self.listed[directory]
        listed.at = now
        began = time.perf_counter()
        try:
            found = {name for name in os.listdir(self._paths[directory]) if not name.startswith(".")}
        except OSError:
            return []  # nothing is known, so nothing has changed
        changes = [Change(directory, name, False) for name in listed.names - found]
        changes += [Change(directory, name, True) for name in found - listed.names]
        for change in changes:
            self._apply(change)
        listed.cost = time.perf_counter() - began
        return changes

    def close(self) -> None:
        self._wake.close()


def task_id(name: str) -> str:
    """The id in a file's name, which is all of it unless there is a priority or a token."""
    return name.partition("~")[0].partition("@")[0]

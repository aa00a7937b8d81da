"""What waits in a queue, and which of it is to be tried next.

A task that cannot start is put aside with what it waits for, and looked at again when that happens: a thousand of them
cost nothing while they wait, and delay nobody. What waits only for room is sorted by how much it needs, so that the
best one that fits is found without asking all the others.
"""

from __future__ import annotations

import errno
import heapq
import os
import stat
import time
from collections.abc import Callable, Iterable
from typing import NamedTuple

import msgspec

from paddock import files
from paddock.errors import Damaged
from paddock.queue import lifecycle
from paddock.queue.circle import circle, stuck, told
from paddock.queue.directory import DirectoryQueue
from paddock.queue.lifecycle import ACTIVE, CHECKING, DONE, FAILED, PAUSED, QUEUED, Place, Verdict, settle
from paddock.queue.task import Dependency, TaskFile, read
from paddock.record.wake import Change
from paddock.work.queues.mirror import Mirror, task_id
from paddock.work.slots import Demand, Slots, demand, needs

STATES_SECONDS = 1.0  # how old a listing may be that dooms a task
AGAIN_SECONDS = 5.0  # before a file that could not be read as a task is read again
AUDIT_SECONDS = 30.0  # between two looks for tasks that were forgotten
SLICE_SECONDS = 0.02  # spent on reading files before the worker sees to its other duties
_NO_FILE = "is no plain file, and is left alone"

Key = tuple[int, str, str]  # priority, id and name of a task, so that the smallest is the next
Mark = tuple[int, int, int]  # inode, size, time: a file that was edited has another


class Candidate(NamedTuple):
    place: Place
    file: TaskFile
    mark: Mark
    doomed: str = ""  # why what it waits for will never happen


class Aside(msgspec.Struct):
    """A task that has to wait."""

    why: str  # as a person is told
    after: tuple[Dependency, ...] = ()
    hopeless: bool = False  # here it will never run


class Waiting:
    def __init__(
        self, queue: DirectoryQueue, mirror: Mirror, most: Slots, say: Callable[[str], None], only: str = ""
    ) -> None:
        """`only`: the one task that is looked at; the others are as if they were not there."""
        self.queue, self.mirror, self._most, self._say, self._only = queue, mirror, most, say, only
        self._owner = os.stat(queue.path).st_uid
        self._fresh: list[Key] = []  # to be looked at
        self._listed: set[str] = set()  # their names
        self._rooms: dict[Demand, list[Key]] = {}  # could run, if there were room
        self._aside: dict[str, Aside] = {}
        self._children: dict[str, set[str]] = {}  # parent's id -> names of the tasks that wait for it
        self._rests: list[tuple[float, str]] = []
        self._until: dict[str, float] = {}  # when they end: not even an edit shortens them
        self._refused: dict[str, str] = {}  # what was said of files that are no tasks
        self._circles: set[frozenset[str]] = set()  # that were told of: tasks that wait for each other
        self._audited = time.monotonic()
        self._states: dict[str, str] | None = None
        self._seen: dict[str, str] | None = None  # at the last listing
        self._states_at = -1e9

    # What changes

    def note(self, changes: Iterable[Change]) -> None:
        for directory, name, here, _ in changes:
            if directory == QUEUED:
                if here:
                    self.again(name)
                else:
                    self._aside.pop(name, None)
                    self._refused.pop(name, None)
            if self._children and (children := self._children.get(task_id(name))):
                self._parent_moved(task_id(name), children)

    def again(self, name: str) -> None:
        """To be looked at: it is new, or was edited, or what it waited for has happened."""
        if name in self._listed or not self._concerns(name):
            return
        if self._until and self._until.get(name, 0.0) > time.monotonic():
            return
        self._aside.pop(name, None)
        place = lifecycle.place(QUEUED, name)
        if place is not None and place.token is None:
            self._listed.add(name)
            heapq.heappush(self._fresh, (-place.priority, place.id, name))

    def _concerns(self, name: str) -> bool:
        return not self._only or task_id(name) == self._only

    def find_forgotten(self, now: float) -> None:
        """Now and then: what waits in the directory and nobody here knows of is looked at again."""
        if now - self._audited < AUDIT_SECONDS:
            return
        self._audited = now
        known = {*self._listed, *self._aside, *(key[2] for heap in self._rooms.values() for key in heap)}
        for name in self.mirror.names(QUEUED) - known:
            self.again(name)

    def _parent_moved(self, parent: str, children: set[str]) -> None:
        for name in list(children):
            waits = self._aside.get(name)
            if waits is None or not any(d.task == parent for d in waits.after):
                children.discard(name)
            elif (verdict := self._verdict(waits.after)).ready or verdict.doomed:
                children.discard(name)
                self.again(name)
        if not children:
            del self._children[parent]

    def pause(self, now: float) -> float:
        """Seconds until something is to be looked at again."""
        if self._fresh:
            return 0.0
        return max(self._rests[0][0] - now, 0.0) if self._rests else 3600.0

    def may_come(self) -> bool:
        """Whether anything here may yet be run by this worker. Tasks that wait for a check or for each other count."""
        names = filter(self._concerns, (*self.mirror.names(QUEUED), *self.mirror.names(CHECKING)))
        return self.may_any(name for name in names if lifecycle.place(QUEUED, name) is not None)

    def may_any(self, names: Iterable[str]) -> bool:
        """The same of these. What waits for what waits for it will never come."""
        waits = {}
        for name in names:
            aside = self._aside.get(name)
            if aside is None or not (aside.hopeless or aside.after):
                return True
            if aside.after:
                states = {d.task: self.mirror.state(d.task) for d in aside.after}
                waits[task_id(name)] = {task for task, state in states.items() if state not in (DONE, FAILED)}
                if QUEUED not in states.values():  # what it waits for has begun: most often there is no need to look on
                    return True
        return len(stuck(waits)) < len(waits)

    def is_hopeless(self, name: str) -> bool:
        """It is no task, or not one that this worker could ever run."""
        return name in self._aside and self._aside[name].hopeless

    # What is next

    def next(self, free: Slots, now: float) -> Candidate | None:
        """The best task that fits and waits for no other. It is not offered again unless `again` says so."""
        while self._rests and self._rests[0][0] <= now:
            name = heapq.heappop(self._rests)[1]
            self._until.pop(name, None)
            self.again(name)
        end = time.perf_counter() + SLICE_SECONDS
        while time.perf_counter() < end:
            heap = self._best(free)
            if heap is None:
                return None
            name = heapq.heappop(heap)[2]
            self._listed.discard(name)
            place = lifecycle.place(QUEUED, name)
            if place is None or name not in self.mirror.names(QUEUED):
                continue
            found = self._examine(place)
            if found is not None and (found.doomed or self._has_room(found, free)):
                return found
        return None

    def peek(self, free: Slots) -> Key | None:
        """What `next` would look at first."""
        heap = self._best(free)
        return heap[0] if heap else None

    def _best(self, free: Slots) -> list[Key] | None:
        heaps = [heap for needs, heap in self._rooms.items() if heap and free.fits(needs)]
        if self._fresh:
            heaps.append(self._fresh)
        return min(heaps, key=lambda heap: heap[0], default=None)

    def _has_room(self, found: Candidate, free: Slots) -> bool:
        task = found.file.task
        if free.fits(task):
            return True
        if not self._most.fits(task):
            self._say(f"waits: {task.id}: it needs more than this worker has ({needs(task)})")
            self.put_aside(found, f"needs {needs(task)}", hopeless=True)
            return False
        key = (-found.place.priority, found.place.id, found.place.name)
        heapq.heappush(self._rooms.setdefault(demand(task), []), key)
        return False

    def put_aside(self, found: Candidate, why: str, rest: float = 0.0, *, hopeless: bool = False) -> None:
        """It waits, for so many seconds, or until `again`."""
        self._aside[found.place.name] = Aside(why, (), hopeless)
        if rest:
            until = self._until[found.place.name] = time.monotonic() + rest
            heapq.heappush(self._rests, (until, found.place.name))

    def _examine(self, place: Place) -> Candidate | None:
        found = self.read(place)
        if found is None or not found.file.task.after:
            return found
        after = found.file.task.after
        verdict = self._verdict(after)
        if verdict.ready:
            return found
        if verdict.doomed:
            states = self._all_states()  # nobody fails for what is only a rumour
            verdict = settle(after, states) if states is not None else Verdict(False)
            if verdict.doomed:
                return found._replace(doomed=verdict.doomed)
            self.put_aside(found, f"waits for {', '.join(d.task for d in after)}", STATES_SECONDS)
            return None
        self._aside[place.name] = Aside(f"waits for {', '.join(d.task for d in after)}", after)
        for dependency in after:
            self._children.setdefault(dependency.task, set()).add(place.name)
        between = circle(place.id, self._waiting_for)[::-1]
        if between and (members := frozenset((place.id, *between))) not in self._circles:
            self._circles.add(members)
            self._say(f"{place.id} {told(between)}")
        return None

    def _waiting_for(self, task: str) -> list[str]:
        """Which tasks wait for this one, as far as anybody has looked."""
        return [task_id(name) for name in self._children.get(task, ()) if name in self._aside]

    # Files

    def read(self, place: Place) -> Candidate | None:
        """The task in a waiting file. One that is no task, or a stranger's, is left where it is, and named once."""
        path = self.queue.where(place)
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except FileNotFoundError:
            self.mirror.forget(place.state, place.name)
            return None
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENXIO):  # a link, a socket
                return self._refuse(place, _NO_FILE)
            passing = error.errno != errno.EACCES
            return self._refuse(place, f"cannot be read now ({error.strerror})", passing=passing)
        try:
            about = os.fstat(descriptor)
            if not stat.S_ISREG(about.st_mode):
                return self._refuse(place, _NO_FILE)
            if about.st_uid not in (0, os.getuid(), self._owner):
                return self._refuse(place, "belongs to somebody else, and is left alone")
            if about.st_mode & stat.S_IWOTH:
                return self._refuse(place, "may be written by everybody, and is left alone; chmod o-w")
            data = os.read(descriptor, about.st_size + 1)
            if len(data) > about.st_size:  # it grows
                data = files.read_from(path, 0)
            return Candidate(place, read(data, place.id), mark(about))
        except Damaged as error:
            return self._refuse(place, str(error))
        except OSError as error:
            return self._refuse(place, f"cannot be read now ({error.strerror})", passing=True)
        finally:
            os.close(descriptor)

    def _refuse(self, place: Place, why: str, *, passing: bool = False) -> Candidate | None:
        """Later it is read again: a disk recovers, and of an edit in place a network disk tells nobody."""
        if self._refused.get(place.name) != why:
            self._say(f"{place.path}: {why}")
            self._refused[place.name] = why
        self._aside[place.name] = Aside(why, hopeless=not passing)
        heapq.heappush(self._rests, (time.monotonic() + AGAIN_SECONDS, place.name))
        return None

    # Dependencies

    def _verdict(self, after: Iterable[Dependency]) -> Verdict:
        return settle(after, {d.task: self.mirror.state(d.task) for d in after})

    def _all_states(self) -> dict[str, str] | None:
        now = time.monotonic()
        if now - self._states_at > STATES_SECONDS:
            found = self._list_states()
            if found is not None:
                before = self._seen if self._seen is not None else self._list_states()
                # A listing may miss a file that is being moved back, two in a row do not.
                self._states, self._seen, self._states_at = {**(before or {}), **found}, found, now
        return self._states

    def _list_states(self) -> dict[str, str] | None:
        # In the order a task goes through them: one that moves on between two listings is seen at least once.
        listing = self.queue.list([QUEUED, PAUSED, CHECKING, ACTIVE, FAILED, DONE])
        return {p.id: p.state for p in listing.places} if listing.sure else None


def mark(about: os.stat_result) -> Mark:
    return about.st_ino, about.st_size, about.st_mtime_ns

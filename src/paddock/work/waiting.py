"""What waits in a queue, and which of it may run: each file is read once and remembered until it changes."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

from paddock.errors import Damaged
from paddock.queue.directory import DirectoryQueue
from paddock.queue.lifecycle import ACTIVE, CHECKING, DONE, FAILED, PAUSED, QUEUED, Place, is_free, order, settle
from paddock.queue.task import TaskFile

STATES_SECONDS = 1.0  # how old the states of other tasks may be when dependencies are settled


class Known(NamedTuple):
    mark: tuple[int, int, int]  # inode, size, mtime: a file that was edited is read again
    file: TaskFile | None
    trouble: str = ""


class Candidate(NamedTuple):
    place: Place
    file: TaskFile


class Waiting:
    def __init__(self, queue: DirectoryQueue, say: Callable[[str], None]) -> None:
        self.queue = queue
        self._say = say
        self._known: dict[str, Known] = {}
        self._places: list[Place] = []
        self._states: dict[str, str] | None = None
        self._seen: dict[str, str] | None = None  # at the last listing
        self._states_at = -1e9
        self.stale = True

    def look(self) -> None:
        """List the queue anew."""
        listing = self.queue.list([QUEUED])
        self._places = order(p for p in listing.places if is_free(p))
        names = {p.name for p in self._places}
        self._known = {name: known for name, known in self._known.items() if name in names}
        self.stale = False

    def __len__(self) -> int:
        return len(self._places)

    def candidates(self) -> Iterator[Candidate]:
        """What could be tried now, best first. A file that is no task is left where it is, and named once."""
        for place in self._places:
            file = self._read(place)
            if file is not None:
                yield Candidate(place, file)

    def forget(self, place: Place) -> None:
        """It is ours, or somebody else's, by now."""
        self._places.remove(place)
        self._known.pop(place.name, None)

    def verdict(self, candidate: Candidate) -> tuple[bool, str]:
        """(whether its dependencies are fulfilled, why they never will be)."""
        if not candidate.file.task.after:
            return True, ""
        states = self._all_states()
        if states is None:  # nobody knows, and nobody fails for that
            return False, ""
        found = settle(candidate.file.task.after, states)
        return found.ready, found.doomed

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

    def _read(self, place: Place) -> TaskFile | None:
        try:
            found = os.stat(self.queue.file(place))
        except OSError:
            return None
        mark = (found.st_ino, found.st_size, found.st_mtime_ns)
        known = self._known.get(place.name)
        if known is None or known.mark != mark:
            known = self._parse(place, mark)
            self._known[place.name] = known
        return known.file

    def _parse(self, place: Place, mark: tuple[int, int, int]) -> Known:
        try:
            if not self.queue.is_trusted(place):
                trouble = f"{place.path} belongs to somebody else, and is left alone"
                self._say(trouble)
                return Known(mark, None, trouble)
            return Known(mark, self.queue.read(place))
        except Damaged as error:
            self._say(f"{place.path}: {error}")
            return Known(mark, None, str(error))
        except OSError as error:
            return Known((0, 0, 0), None, str(error))

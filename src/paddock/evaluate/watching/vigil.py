"""Many watched directories at once: woken by the kernel where it tells, by the clock where it does not."""

from __future__ import annotations

import select
import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Protocol

from paddock.evaluate.completeness import marker
from paddock.evaluate.origin.place import is_url
from paddock.record.filesystem import is_local
from paddock.record.wake import Change
from paddock.record.wakes import Wakes

SAFE_SECONDS = 120.0  # between two looks at everything, where the kernel tells what happened
SLICE_SECONDS = 0.01  # spent on such looks before the kernel is asked again: what is new goes first
SIGNAL_SECONDS = 0.5  # a signal's handler only says that it is over


class Watched(Protocol):
    """What can be kept: a `Watching`, or somebody else who looks."""

    @property
    def directory(self) -> str: ...

    @property
    def directories(self) -> set[str]: ...

    @property
    def results(self) -> int: ...

    @property
    def over(self) -> str: ...

    def attend(self) -> None: ...

    def look(
        self,
        changed: Collection[str] | None = None,
        moved: Collection[str] = (),
        named: Collection[str] | None = None,
    ) -> float | None: ...


class Vigil:
    def __init__(self, watches: Sequence[Watched], interval: float) -> None:
        self._wakes: Wakes[_Post] = Wakes(marker.SUFFIX)
        self._interval = interval
        self._posts = [_Post(watching, interval, self._wakes) for watching in watches]

    def add(self, watching: Watched) -> None:
        self._posts.append(_Post(watching, self._interval, self._wakes))

    def keep(self, is_over: Callable[[], bool]) -> None:
        """Look, and look again when something may have happened, until it is over: it was ended, or nothing more is to
        be expected in any of the directories."""
        while not is_over() and not all(post.over for post in self._posts):
            self._turn()
            self._wait()

    def _turn(self) -> None:
        for post, changes in self._wakes.read().items():
            post.hear(changes)
        now = time.monotonic()
        end = now + SLICE_SECONDS
        for post in self._posts:
            if post.due <= now:
                post.look()
                if time.monotonic() >= end:
                    break
        for post in self._posts:
            post.attend()

    def _wait(self) -> None:
        poller = select.poll()
        for fd in {self._wakes.fd, *(post.results for post in self._posts)}:
            if fd >= 0:
                poller.register(fd, select.POLLIN)
        pause = min(post.due for post in self._posts) - time.monotonic()
        poller.poll(max(0.0, min(pause, SIGNAL_SECONDS)) * 1000)

    def close(self) -> None:
        self._wakes.close()


class _Post:
    def __init__(self, watching: Watched, interval: float, wakes: Wakes[_Post]) -> None:
        self._watching, self._interval, self._wakes = watching, interval, wakes
        self._local = not is_url(watching.directory) and is_local(Path(watching.directory))
        self.results = watching.results
        self.attend = watching.attend
        self._everything = 0.0  # when to look at everything again
        self._rested = 0.0  # when something that was seen will have rested
        self.due = 0.0  # the earlier of both; asked for so often that it is not computed then

    @property
    def over(self) -> str:
        return self._watching.over

    def hear(self, changes: Sequence[Change] | None) -> None:
        """Look where something happened; None: that may be anywhere."""
        if changes is None:
            self._everything = 0.0
            self.look()
            return
        named = {f"{change.directory}/{change.name}" for change in changes}
        moved = {f"{change.directory}/{change.name}" for change in changes if change.moved}
        self._look({change.directory for change in changes}, moved, named)

    def look(self) -> None:
        """Look at everything, or at what has rested."""
        if time.monotonic() < self._everything:
            self._look(set(), set(), set())
            return
        told = self._look(None, set(), None)
        self._everything = time.monotonic() + (max(self._interval, SAFE_SECONDS) if told else self._interval)
        self.due = min(self._everything, self._rested)

    def _look(self, changed: set[str] | None, moved: set[str], named: set[str] | None) -> bool:
        """Whether the kernel tells what happens from now on."""
        due = self._watching.look(changed, moved, named)
        told = self._local and self._wakes.fd >= 0
        while told and (directories := self._watching.directories) != self._wakes.watched(self):
            new = directories - self._wakes.watched(self)
            told = self._wakes.watch(self, directories)
            # They are listed again once they are watched: of what came in between nobody tells.
            due = self._watching.look(new, moved) if new else due
        if not told and self._local:
            self._everything = min(self._everything, time.monotonic() + self._interval)
        self._rested = float("inf") if due is None else time.monotonic() + due
        self.due = min(self._everything, self._rested)
        return told

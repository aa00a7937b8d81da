"""Many watched directories at once: woken by the kernel where it tells, by the clock where it does not."""

from __future__ import annotations

import select
import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Protocol

from paddock.evaluate import marker
from paddock.evaluate.origin import is_url
from paddock.record.filesystem import is_local
from paddock.record.wake import Wake

SAFE_SECONDS = 60.0  # between two looks at everything, where the kernel tells what happened


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
        self._posts = [_Post(watching, interval) for watching in watches]

    def keep(self, is_over: Callable[[], bool]) -> None:
        """Look, and look again when something may have happened, until it is over: it was ended, or nothing more is to
        be expected in any of the directories."""
        while not is_over() and not all(post.over for post in self._posts):
            pause = min(post.work() for post in self._posts)
            poller = select.poll()
            for post in self._posts:
                for fd in post.fds:
                    poller.register(fd, select.POLLIN)
            # Short, because a signal's handler only says that it is over.
            poller.poll(min(pause, 0.5) * 1000)

    def close(self) -> None:
        for post in self._posts:
            post.close()


class _Post:
    def __init__(self, watching: Watched, interval: float) -> None:
        self._watching = watching
        self._local = not is_url(watching.directory) and is_local(Path(watching.directory))
        self._interval = interval
        self._wake = Wake({})
        self._watched: set[str] = set()
        self._everything = 0.0  # when to look at everything again
        self._due = 0.0  # when something that was seen will have rested

    @property
    def fds(self) -> list[int]:
        return [fd for fd in (self._wake.fd, self._watching.results) if fd >= 0]

    @property
    def over(self) -> str:
        return self._watching.over

    def close(self) -> None:
        self._wake.close()

    def work(self) -> float:
        """Look if there is a reason to; the seconds until there is one even if nothing happens."""
        changes = self._wake.read() if self._wake.fd >= 0 else []
        now = time.monotonic()
        if changes is None or now >= self._everything:
            self._look(None, ())
            told = self._wake.fd >= 0
            self._everything = time.monotonic() + (max(self._interval, SAFE_SECONDS) if told else self._interval)
        elif changes or now >= self._due:
            moved = {f"{change.directory}/{change.name}" for change in changes if change.moved}
            named = {f"{change.directory}/{change.name}" for change in changes}
            self._look({change.directory for change in changes}, moved, named)
        self._watching.attend()
        return max(0.0, min(self._everything, self._due) - time.monotonic())

    def _look(self, changed: set[str] | None, moved: set[str] | tuple[str, ...], named: set[str] | None = None) -> None:
        due = self._watching.look(changed, moved, named)
        self._due = float("inf") if due is None else time.monotonic() + due
        if self._local and self._watching.directories != self._watched:
            # New directories are listed again once they are watched: what came in between is not told by anybody.
            self._wake.close()
            self._watched = set(self._watching.directories)
            self._wake = Wake({path: (Path(path), True) for path in self._watched}, marker.SUFFIX)
            due = self._watching.look(None, moved)
            self._due = float("inf") if due is None else time.monotonic() + due
            if self._watching.directories != self._watched:
                self._everything = 0.0

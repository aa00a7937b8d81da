"""checkpoints(): every complete checkpoint of a directory, once, as it comes.

A thread looks, so that nothing is missed while the caller is busy with the last one; what is deleted meanwhile is kept
by hard links until the caller has had it.
"""

from __future__ import annotations

import glob
import os
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from queue import Empty

from paddock.amounts import parse_seconds
from paddock.errors import UsageError
from paddock.evaluate.content.fingerprint import fingerprint
from paddock.evaluate.origin.pin import unpin
from paddock.evaluate.origin.place import is_url
from paddock.evaluate.origin.scan import DEFAULT_PATTERN
from paddock.evaluate.watching import awaited
from paddock.evaluate.watching.globs import Gathering
from paddock.evaluate.watching.seeking import Found, Seeking
from paddock.evaluate.watching.vigil import Vigil
from paddock.track import notice

_GLANCE_SECONDS = 0.2  # between two looks for whether the caller has gone


@dataclass(frozen=True)
class Checkpoint:
    """Can be opened as the path that it is, also when the training deletes it meanwhile."""

    path: str
    step: int | None = None
    kept: str = ""  # links to it, which stay until the next one is asked for

    @property
    def name(self) -> str:
        return os.path.basename(self.path.rstrip("/"))

    def __fspath__(self) -> str:
        return self.kept or self.path

    def __str__(self) -> str:
        return self.path


class _Looking(threading.Thread):
    def __init__(self, seeking: Seeking, interval: float) -> None:
        super().__init__(name="checkpoints", daemon=True)
        self.over, self.looked = threading.Event(), threading.Event()
        self.error: BaseException | None = None
        self._seeking, self._interval = seeking, interval

    def run(self) -> None:
        self._vigil = vigil = Vigil([], self._interval)
        where = self._seeking.directory
        if is_url(where) or os.path.isdir(where):
            vigil.add(self._seeking)
        else:
            vigil.add(Gathering(glob.escape(where), (), self._appeared))
        try:
            self._seeking.look()
            self.looked.set()
            vigil.keep(self.over.is_set)
        except BaseException as error:  # told to the caller, whose thread it is not
            self.error = error
        finally:
            vigil.close()

    def _appeared(self, _: list[str]) -> list[str]:
        self._vigil.add(self._seeking)
        return []


@dataclass
class Checkpoints:
    """Iterates over the checkpoints of a directory; `close()` it, or use `with`, to stop before the end."""

    seeking: Seeking
    timeout: float | None = None
    follow: bool = True
    interval: float = 5.0
    _last: Found | None = None

    def __post_init__(self) -> None:
        # The thread knows nothing of this object: when nobody holds it any more, the thread ends.
        self._looking = _Looking(self.seeking, self.interval)
        self._looking.start()

    def __iter__(self) -> Iterator[Checkpoint]:
        return self

    def __next__(self) -> Checkpoint:
        self._release()
        end = None if self.timeout is None else time.monotonic() + self.timeout
        while not self._looking.over.is_set():
            try:
                found = self.seeking.found.get(timeout=_GLANCE_SECONDS if self.follow else 0.02)
            except Empty:
                if self._looking.error is not None:
                    raise self._looking.error from None
                nothing_more = not self.follow and self._looking.looked.is_set() and not self.seeking.resting
                if (nothing_more and self.seeking.found.empty()) or (end is not None and time.monotonic() >= end):
                    break
                continue
            path = self._readable(found)
            if path:
                self._last = found
                return Checkpoint(path, found.step, found.pin)
            unpin(found.pin)
        self.close()
        raise StopIteration

    def close(self) -> None:
        self._looking.over.set()
        self._looking.join()
        self._let_go()

    def __del__(self) -> None:
        if hasattr(self, "_looking"):
            self._looking.over.set()
            self._let_go()

    def __enter__(self) -> Checkpoints:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _readable(self, found: Found) -> str:
        """Its own path while the same content is there, else that of the links; "" when there are none."""
        for path in (found.here.path, found.pin):
            here = self.seeking.origin.look(path) if path else None
            if here is not None and fingerprint(here) == found.content:
                return path
        return ""

    def _let_go(self) -> None:
        self._release()
        while not self.seeking.found.empty():
            unpin(self.seeking.found.get().pin)

    def _release(self) -> None:
        if self._last is not None:
            unpin(self._last.pin)
            self._last = None


def checkpoints(
    directory: str | os.PathLike[str],
    *,
    existing: bool = True,
    follow: bool = True,
    timeout: float | str | None = None,
    pattern: str = DEFAULT_PATTERN,
    quiet_time: float | str | None = None,
    step_rule: str | None = None,
) -> Checkpoints:
    """Every complete checkpoint below a directory, once, in the order in which they are completed; several that are
    there at the same moment in the order of their steps.

    A directory that is not there yet is awaited. It blocks until the next one comes; with `timeout` it ends when none
    has come for so long (60, "5m"), with `follow=False` after those that are there now. `existing=False` passes over
    what is there already.
    """
    where = os.fspath(directory)
    if not is_url(where):
        where = os.path.abspath(os.path.expanduser(where))
        if not os.path.isdir(where):
            if not follow:
                raise UsageError(f"There is no directory {directory}.", hint="Make it first, or check the name.")
            awaited.check(where, str(directory))
            notice.say(awaited.remark(where))
    quiet = None if quiet_time is None else parse_seconds(quiet_time)
    end = None if timeout is None else parse_seconds(timeout)
    seeking = Seeking(where, pattern, quiet, step_rule)
    if not existing:
        seeking.pass_over()
    return Checkpoints(seeking, end, follow)

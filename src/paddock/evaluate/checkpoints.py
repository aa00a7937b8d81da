"""checkpoints(): every complete checkpoint of a directory, once, as it comes.

A thread looks, so that nothing is missed while the caller is busy with the last one; what is deleted meanwhile is kept
by hard links until the caller has had it.
"""

from __future__ import annotations

import os
import secrets
import threading
import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue

from paddock.errors import UsageError
from paddock.evaluate.completeness import Completeness
from paddock.evaluate.fingerprint import fingerprint
from paddock.evaluate.look import Look
from paddock.evaluate.metadata import step_for
from paddock.evaluate.origin import is_url, open_origin
from paddock.evaluate.pin import unpin
from paddock.evaluate.scan import DEFAULT_PATTERN, compile_pattern
from paddock.evaluate.settling import Settling, mark_of
from paddock.evaluate.steps import compile_rule
from paddock.evaluate.vigil import Vigil

_GLANCE_SECONDS = 0.2  # between two looks for whether the caller has gone


@dataclass(frozen=True)
class Checkpoint:
    """Can be opened as the path that it is."""

    path: str
    step: int | None = None

    @property
    def name(self) -> str:
        return os.path.basename(self.path.rstrip("/"))

    def __fspath__(self) -> str:
        return self.path

    def __str__(self) -> str:
        return self.path


@dataclass
class Found:
    here: Look
    content: str
    pin: str
    step: int | None


def _in_order(found: list[Found]) -> list[Found]:
    """Several at once come in the order of the training: by their steps, or, if one has none, by when they were
    written."""
    by_step = all(one.step is not None for one in found)
    return sorted(found, key=lambda one: (one.step or 0 if by_step else 0, one.here.newest, one.here.path))


class Seeking:
    """The looking: as that of a watch, but what is found is handed over instead of being entered and submitted."""

    results = -1  # nobody evaluates, so nothing follows from results
    over = ""

    def __init__(self, directory: str, pattern: str, quiet: float | None, step_rule: str | None) -> None:
        self.directory = directory
        self.origin = open_origin(directory, compile_pattern(pattern))
        self.found: SimpleQueue[Found] = SimpleQueue()
        self.resting = 0  # that are complete, and have not rested for long enough
        self._quiet = quiet
        self._rule = compile_rule(step_rule) if step_rule else None
        self._key = secrets.token_hex(8)
        self._completeness = Completeness()
        self._settling = Settling()
        self._settled: dict[str, object] = {}  # path -> the mark of what has been dealt with
        self._contents: set[str] = set()
        self._open: dict[str, float | None] = {}  # paths that are not complete or not at rest -> when they will be

    @property
    def directories(self) -> set[str]:
        return self.origin.directories

    def attend(self) -> None:
        pass

    def close(self) -> None:
        pass

    def look(
        self,
        changed: Collection[str] | None = None,
        moved: Collection[str] = (),
        named: Collection[str] | None = None,
    ) -> float | None:
        scan = self.origin.scan(changed, named)
        now = time.monotonic()
        if scan.sure:
            for path in self._open.keys() - set(scan.paths):
                self._forget(path)
        paths = sorted(scan.touched | (self._open.keys() & set(scan.paths)))
        ready = [found for path in paths if (found := self._consider(path, now, path in moved)) is not None]
        for one in _in_order(ready):
            self.found.put(one)
        dues = [due for due in self._open.values() if due is not None]
        self.resting = len(dues)
        return max(0.0, min(dues) - time.monotonic()) if dues else (1.0 if self._open else None)

    def pass_over(self) -> None:
        """What is there already is not wanted."""
        for path in self.origin.scan().paths:
            here = self.origin.look(path)
            if here is not None and self._completeness.judge(here).complete:
                self._settled[path] = mark_of(here)
                self._contents.add(fingerprint(here))

    def _consider(self, path: str, now: float, moved: bool) -> Found | None:
        here = self.origin.look(path)
        if here is None or self._settled.get(path) == mark_of(here):
            return None
        self._settling.observe(here, now, moved=moved and not os.path.islink(path))
        judgement = self._completeness.judge(here)
        self._open[path] = self._settling.due(here, judgement, quiet=self._quiet)
        if not self._settling.is_ready(here, judgement, now, quiet=self._quiet):
            return None
        return self._take(here)

    def _take(self, here: Look) -> Found | None:
        content = fingerprint(here)
        pin = ""
        if content not in self._contents:
            try:
                pin = self.origin.pin(here, f"iterator-{self._key}-{len(self._contents)}")
            except OSError:
                pin = ""  # then it may be gone when its turn comes
            again = self.origin.look(here.path)
            if again is None or mark_of(again) != mark_of(here):
                unpin(pin)
                return None  # it changed under our eyes: the next look sees what it has become
        self._settled[here.path] = mark_of(here)
        self._forget(here.path)
        if content in self._contents:
            return None  # a link to a known one, or a copy
        self._contents.add(content)
        return Found(here, content, pin, step_for(here, self._rule))

    def _forget(self, path: str) -> None:
        self._open.pop(path, None)
        self._settling.forget(path)
        self._completeness.forget(path)


@dataclass
class Checkpoints:
    """Iterates over the checkpoints of a directory; `close()` it, or use `with`, to stop before the end."""

    seeking: Seeking
    timeout: float | None = None
    follow: bool = True
    interval: float = 5.0
    _over: threading.Event = field(default_factory=threading.Event)
    _looked: threading.Event = field(default_factory=threading.Event)
    _last: Found | None = None
    _error: BaseException | None = None

    def __post_init__(self) -> None:
        self._thread = threading.Thread(target=self._look, name="checkpoints", daemon=True)
        self._thread.start()

    def __iter__(self) -> Iterator[Checkpoint]:
        return self

    def __next__(self) -> Checkpoint:
        self._release()
        end = None if self.timeout is None else time.monotonic() + self.timeout
        while not self._over.is_set():
            try:
                found = self.seeking.found.get(timeout=_GLANCE_SECONDS if self.follow else 0.02)
            except Empty:
                if self._error is not None:
                    raise self._error from None
                nothing_more = not self.follow and self._looked.is_set() and not self.seeking.resting
                if (nothing_more and self.seeking.found.empty()) or (end is not None and time.monotonic() >= end):
                    break
                continue
            path = self._readable(found)
            if path:
                self._last = found
                return Checkpoint(path, found.step)
            unpin(found.pin)
        self.close()
        raise StopIteration

    def close(self) -> None:
        self._over.set()
        self._release()
        if self._thread is not threading.current_thread():
            self._thread.join()
        while not self.seeking.found.empty():
            unpin(self.seeking.found.get().pin)

    def __enter__(self) -> Checkpoints:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _look(self) -> None:
        vigil = Vigil([self.seeking], self.interval)
        try:
            self.seeking.look()
            self._looked.set()
            vigil.keep(self._over.is_set)
        except BaseException as error:  # told to the caller, whose thread it is not
            self._error = error
        finally:
            vigil.close()

    def _readable(self, found: Found) -> str:
        """Its own path while the same content is there, else that of the links; "" when there are none."""
        for path in (found.here.path, found.pin):
            here = self.seeking.origin.look(path) if path else None
            if here is not None and fingerprint(here) == found.content:
                return path
        return ""

    def _release(self) -> None:
        if self._last is not None:
            unpin(self._last.pin)
            self._last = None


def checkpoints(
    directory: str | os.PathLike[str],
    *,
    existing: bool = True,
    follow: bool = True,
    timeout: float | None = None,
    pattern: str = DEFAULT_PATTERN,
    quiet_time: float | None = None,
    step_rule: str | None = None,
) -> Checkpoints:
    """Every complete checkpoint below a directory, once, in the order in which they are completed; several that are
    there at the same moment in the order of their steps.

    It blocks until the next one comes; with `timeout` it ends when none has come for so many seconds, with
    `follow=False` after those that are there now. `existing=False` passes over what is there already.
    """
    where = os.fspath(directory)
    if not is_url(where):
        where = os.path.abspath(os.path.expanduser(where))
        if not os.path.isdir(where):
            raise UsageError(f"There is no directory {directory}.", hint="Make it first, or check the name.")
    seeking = Seeking(where, pattern, quiet_time, step_rule)
    if not existing:
        seeking.pass_over()
    return Checkpoints(seeking, timeout, follow)

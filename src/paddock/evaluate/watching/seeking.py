"""Looking for checkpoints on somebody's behalf: as a watch does, but what is found is handed over instead of being
entered and submitted."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from queue import SimpleQueue

from paddock.evaluate.completeness.rule import Completeness
from paddock.evaluate.completeness.settling import Settling, mark_of
from paddock.evaluate.content.fingerprint import fingerprint
from paddock.evaluate.origin.look import Look
from paddock.evaluate.origin.pin import pins, unpin
from paddock.evaluate.origin.place import open_origin, real, training_of
from paddock.evaluate.origin.scan import compile_pattern
from paddock.evaluate.training.metadata import step_for
from paddock.evaluate.training.steps import compile_rule
from paddock.record.process import me, parse

_PREFIX, _BETWEEN = "iterator", "~"  # of the names of pins: whose they are can be read off them


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
    """Can be kept by a `Vigil`."""

    results = -1  # nobody evaluates, so nothing follows from results
    over = ""

    def __init__(self, directory: str, pattern: str, quiet: float | None, step_rule: str | None) -> None:
        self.directory = directory
        self.origin = open_origin(directory, compile_pattern(pattern))
        self.found: SimpleQueue[Found] = SimpleQueue()
        self.resting = 0  # that are complete, and have not rested for long enough
        self._quiet = quiet
        self._rule = compile_rule(step_rule) if step_rule else None
        self._key = _BETWEEN.join((_PREFIX, str(me()), secrets.token_hex(4)))
        self._swept = False
        self._completeness = Completeness()
        self._settling = Settling()
        self._settled: dict[str, object] = {}  # path -> the mark of what has been dealt with
        self._contents: set[tuple[str, str]] = set()  # of which training, and what
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
        if not self._swept:
            _sweep(scan.pinned)
            self._swept = True
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
                self._contents.add(self._identity(here))

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
        identity = self._identity(here)
        pin = ""
        if identity not in self._contents:
            try:
                pin = self.origin.pin(here, f"{self._key}{_BETWEEN}{len(self._contents)}")
            except OSError:
                pin = ""  # then it may be gone when its turn comes
            again = self.origin.look(here.path)
            if again is None or mark_of(again) != mark_of(here):
                unpin(pin)
                return None  # it changed under our eyes: the next look sees what it has become
        self._settled[here.path] = mark_of(here)
        self._forget(here.path)
        if identity in self._contents:
            return None  # a link to a known one, or a copy
        self._contents.add(identity)
        return Found(here, identity[1], pin, step_for(here, self._rule))

    def _identity(self, here: Look) -> tuple[str, str]:
        return training_of(here.path, real(self.directory)), fingerprint(here)

    def _forget(self, path: str) -> None:
        self._open.pop(path, None)
        self._settling.forget(path)
        self._completeness.forget(path)


def _sweep(directories: Iterable[str]) -> None:
    """Remove what such a process of this machine that was killed has kept."""
    for directory in directories:
        for name, path in pins(directory).items():
            prefix, *words = name.split(_BETWEEN)
            owner = parse(_BETWEEN.join(words[:-2])) if prefix == _PREFIX else None  # then a token and a number
            if owner is not None and owner.is_gone():
                unpin(path)

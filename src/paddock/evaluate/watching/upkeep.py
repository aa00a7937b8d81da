"""What a watcher that died has left behind: entries without a task, and pins of what is over or was never entered."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial

from paddock.evaluate.ledger.book import Ledger
from paddock.evaluate.ledger.entry import Finding
from paddock.evaluate.origin.look import PINS, Look, look
from paddock.evaluate.origin.pin import is_aside, pins, unpin
from paddock.queue.finding import queue_at
from paddock.queue.lifecycle import ACTIVE, CANCELLED, CHECKING, PAUSED, QUEUED
from paddock.queue.protocol import AWAY, Queue
from paddock.record.layout import Home
from paddock.record.process import parse

REPAIR_SECONDS = 10.0  # another watcher may be between two steps; after so long it is not
SUSPECT_SECONDS = 1.0
# In the order of a task's moves, so that one that moves meanwhile is seen; and it may come back.
_WAITING = (QUEUED, CHECKING, PAUSED, ACTIVE, CANCELLED, QUEUED)


def is_gone(who: str, late: bool) -> bool:
    """Whether somebody else may do what this one began: of another machine, and of another container on this one,
    nothing is known, but that it is late."""
    process = parse(who)
    if process is None:
        return late
    return process.is_gone() or (late and not process.is_here())


class Upkeep:
    def __init__(
        self,
        ledger: Ledger,
        queue: Queue,
        home: Home,
        seconds: float,
        bare: Iterable[str],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._ledger, self._queue, self._home, self._seconds, self._clock = ledger, queue, home, seconds, clock
        self._bare = dict.fromkeys(bare, clock())  # without a task, and since when we see that
        self._prefix = f"{ledger.path.name}{ledger.mark}-"  # of our pins: another home may watch the same directory
        self._ours: dict[str, bool] = {}  # that we could not submit; True: it is for us to do, else if we entered them
        self._fresh = True  # those that were there when we began may be of the dead
        self.suspects: dict[str, float] = {}  # pins that nobody seems to need

    @property
    def dues(self) -> list[float]:
        """The moments at which there is something to do."""
        found = [since + self._seconds for since in self._bare.values()]
        return found + [since + SUSPECT_SECONDS for since in self.suspects.values()]

    def pin_name(self, key: str) -> str:
        return self._prefix + key

    def suspect(self, key: str) -> None:
        self._bare.setdefault(key, self._clock())

    def retry(self, key: str, certain: bool) -> None:
        """The disk refused when we entered it, or submitted it: should it be in the ledger, it is submitted later."""
        self._ours[key] = certain or self._ours.get(key, False)
        self.suspect(key)

    def clear(self, key: str) -> None:
        self._bare.pop(key, None)
        self._ours.pop(key, None)

    def has_pin(self, seen: Look, key: str) -> bool:
        """Whether it is kept: under its key, or as the very files, should its fingerprint be a wrong one."""
        directory = os.path.dirname(seen.path)
        if os.path.isdir(os.path.join(directory, PINS, self.pin_name(key))):
            return True
        ours = [path for name, path in pins(directory).items() if name.startswith(self._prefix)]
        looks = (look(path) for path in ours if os.path.basename(path) == seen.name)
        return any(kept is not None and kept.files == seen.files for kept in looks)

    def unsubmitted(self, now: float, who: str) -> list[Finding]:
        """What was entered by somebody who died before it could be submitted: at once when we can see that. Who has
        the claim to do it submits it, and nobody else."""
        late = {key for key, since in self._bare.items() if now - since >= self._seconds}
        due = late | (set(self._bare) if self._fresh else set())
        self._fresh = False
        if not due:
            return []
        _, bare = self._ledger.known()
        there = {place.id for place in self._queue.list().places}
        found = []
        for key in due:
            self._bare.pop(key, None)
            finding = self._ledger.finding(key) if key in bare else None
            if finding is None:
                continue
            if finding.task in there or self._home.run(finding.task).path.exists():
                self._ledger.mark_submitted(key)
            elif self._is_ours(finding, who, key in late):
                found.append(finding)
            else:
                self.suspect(key)  # somebody else does it, unless it dies
        return found

    def _is_ours(self, finding: Finding, who: str, late: bool) -> bool:
        """Whether we are to submit it: we could not before, or who was to is gone, and we have the claim."""
        if self._ours.get(finding.key) or (finding.key in self._ours and finding.by == who):
            return True
        return is_gone(finding.by, late) and self._ledger.claim(finding.key, who, partial(is_gone, late=late))

    def sweep(self, directories: Iterable[str], keys: set[str]) -> Iterator[tuple[Look, str]]:
        """Remove the pins of evaluations that are over, for they may have failed, been cancelled or killed; and yield
        what was pinned by somebody who died before it was entered, with the path that it had. One look is not
        believed: a task may be between two places, and a pin just before its entry."""
        places = list(directories)
        listing = self._queue.list(_WAITING if places else ())
        if not listing.sure:
            return
        waiting, now = {place.id for place in listing.places}, self._clock()
        before, self.suspects = self.suspects, {}
        over: dict[str, tuple[str, str]] = {}  # task -> its pin, and the queue that it was submitted to
        for directory in places:
            for name, path in pins(directory).items():
                key = name.removeprefix(self._prefix)
                if key == name or key in self._bare or Finding.task_of(key) in waiting:
                    continue
                since = before.get(path, now)
                if now - since < SUSPECT_SECONDS:
                    self.suspects[path] = since
                elif is_aside(name):
                    shutil.rmtree(os.path.dirname(path), ignore_errors=True)
                elif (finding := self._ledger.finding(key)) is not None or key in keys:
                    if self._ledger.is_submitted(key) and not self._ledger.is_withdrawn(key):
                        # Else another watcher is about to submit it, or the next one is to.
                        over[Finding.task_of(key)] = path, finding.queue if finding is not None else ""
                elif (kept := look(path)) is not None:
                    yield kept, path.replace(f"{PINS}/{name}/", "")
        # Another watcher may have entered and submitted it since the queue was listed: only a later listing tells. It
        # may have another queue than we have.
        here = self._waiting_in(self._queue) if over else None
        if here is None:
            return
        others = {queue for _, queue in over.values()} - {"", self._queue.address}
        elsewhere = {queue: self._waiting_in(queue_at(queue)) for queue in others}
        for task, (path, queue) in over.items():
            there = elsewhere.get(queue, here)
            if there is not None and task not in here | there:
                unpin(path)

    def _waiting_in(self, queue: Queue) -> set[str] | None:
        """None where that cannot be said now."""
        try:
            listing = queue.list(_WAITING)
        except AWAY:
            return None
        return {place.id for place in listing.places} if listing.sure else None

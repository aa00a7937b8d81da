"""How attempts ended, written into their tasks' files, and the files moved where they belong: tried again for as long
as the disk refuses, because a result that is in nobody's hands would be a task that waits for ever."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from paddock.queue import cancelling
from paddock.queue.directory import DirectoryQueue
from paddock.queue.lifecycle import (
    ACTIVE,
    CANCELLED,
    CHECKING,
    DONE,
    FAILED,
    PAUSED,
    QUEUED,
    Place,
    Token,
    destination,
    ended,
)
from paddock.queue.task import Attempt, render_attempt
from paddock.work import attempt as attempts
from paddock.work.attempt import Running

# In the order in which a file can be moved under our eyes, and the likeliest last.
LOOK = (QUEUED, FAILED, DONE, CHECKING, PAUSED, ACTIVE, CANCELLED)
AGAIN_SECONDS = 1.0


class End(NamedTuple):
    """How an attempt ended."""

    result: str  # done, failed, killed, cancelled, requeued, fenced, timed out
    text: str  # in words: "exit code 3"
    status: int | None = None  # as from waitpid
    seconds: float = 0.0
    peak_memory: int = 0
    processor_seconds: float = 0.0

    @property
    def usage(self) -> dict[str, float]:
        """For the record; what is not known is left out."""
        found = {"seconds": self.seconds, "processor_seconds": self.processor_seconds, "peak_memory": self.peak_memory}
        return {key: round(value, 3) for key, value in found.items() if value}


@dataclass
class Ending:
    """An attempt that is over, and whose file is still to be moved."""

    queue: DirectoryQueue
    running: Running
    note: Attempt
    place: Place | None  # where the file is; None when that has to be looked up
    noted: bool = False
    misses: int = 0
    again: float = 0.0
    trouble: str = ""

    @property
    def token(self) -> Token | None:
        return self.running.place.token


class Settling:
    def __init__(self, worker: str, say: Callable[[str], None]) -> None:
        self._worker, self._say = worker, say
        self._endings: list[Ending] = []

    def __len__(self) -> int:
        return len(self._endings)

    @property
    def keys(self) -> set[str]:
        return {ending.running.key for ending in self._endings}

    def add(self, queue: DirectoryQueue, running: Running, end: End) -> None:
        attempts.finish(running, end.status, end.text, end.result, end.usage)
        if end.result == "cancelled":  # its file is gone, or somebody else's
            cancelling.confirm(queue, running.place)
            return
        note = attempts.attempt_note(running, self._worker, end.result, end.text, end.seconds, end.peak_memory)
        # Who was fenced may own nothing any more: it looks before it writes.
        self._endings.append(Ending(queue, running, note, None if end.result == "fenced" else running.place))
        self.work()

    def work(self) -> None:
        """Settle what can be settled now."""
        now = time.monotonic()
        self._endings = [e for e in self._endings if now < e.again or not self._settle(e)]

    def _settle(self, ending: Ending) -> bool:
        """True when there is nothing more to do. What is known of the place is tried first, then a listing."""
        try:
            for _ in range(3):
                if ending.place is not None and self._write(ending, ending.place):
                    return True
                if self._find(ending):
                    return True
                if ending.place is None:
                    break
        except OSError as error:
            trouble = (
                f"{ending.note.outcome}, but the disk does not take it ({error.strerror}): {ending.running.task.id}"
            )
            if trouble != ending.trouble:
                self._say(trouble)
            ending.trouble = trouble
        ending.again = time.monotonic() + AGAIN_SECONDS
        return False

    def _write(self, ending: Ending, place: Place) -> bool:
        file = ending.running.file
        try:
            if not ending.noted:
                ending.queue.append(place, render_attempt(ending.note, file.fence))
                ending.noted = True
        except FileNotFoundError:
            return False
        failures = sum(attempt.outcome in ("failed", "timed out") for attempt in file.attempts)
        to = destination(place.state, ending.note.outcome, failures, file.task.retries)
        return ending.queue.move(place, ended(place, to))

    def _find(self, ending: Ending) -> bool:
        """Look where the file is; True when it is ours no more."""
        listing = ending.queue.list(LOOK)
        same = [p for p in listing.places if p.id == ending.running.place.id]
        ending.place = next((p for p in same if p.token == ending.token), None)
        if ending.place is not None and ending.place.state == CANCELLED:  # it ended by itself before we saw that
            cancelling.confirm(ending.queue, ending.place)
            return True
        if ending.place is not None or not listing.sure:
            return False
        ending.misses += 1
        if ending.misses < 2:
            return False
        self._say(f"{ending.note.outcome}, but its file is gone or another's; filed with the run: {ending.note.output}")
        return True

"""How attempts ended, written into their tasks' files, and the files moved where they belong: tried again for as long
as the disk refuses, because a result that is in nobody's hands would be a task that waits for ever.

The note is written at once, so that a kill of this worker does not lose it. Then a thread brings all that has come
together (the note, the run's facts and journal) to the disk in one go, and renames the file after that: the worker
meanwhile starts the next task. When the power fails before the rename is on the disk, the file is still in `active/`,
with a note that says how the attempt ended; whoever takes it over moves it where it belongs and does not run it again.
So the directories themselves are brought to the disk only now and then.
"""

from __future__ import annotations

import contextlib
import os
import queue
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from paddock import files
from paddock.queue import cancelling, commit
from paddock.queue.directory import DirectoryQueue
from paddock.queue.lifecycle import ACTIVE, CANCELLED, LOOK, Place, Token, after_loss, destination, ended
from paddock.queue.task import Attempt, TaskFile, render_attempt
from paddock.record.journal import Journal
from paddock.work import attempt as attempts
from paddock.work.attempt import Running
from paddock.work.notice import Notices

AGAIN_SECONDS = 1.0
BUSY_SECONDS, GATHER_SECONDS = 0.02, 0.01  # when results come so fast, they are waited for a moment, to share a commit
DIRECTORIES_SECONDS = 1.0  # how long a rename may wait for the disk


class End(NamedTuple):
    """How an attempt ended."""

    result: str  # done, failed, killed, cancelled, requeued, fenced, timed out, lost
    text: str  # in words: "exit code 3"
    status: int | None = None  # as from waitpid
    seconds: float = 0.0
    peak_memory: int = 0
    processor_seconds: float = 0.0
    workers: str = ""  # of all ranks, when there are several

    @property
    def usage(self) -> dict[str, float]:
        """For the record; what is not known is left out."""
        found = {"seconds": self.seconds, "processor_seconds": self.processor_seconds, "peak_memory": self.peak_memory}
        return {key: round(value, 3) for key, value in found.items() if value}


@dataclass
class Ending:
    """An attempt that is over, and whose file is still to be moved."""

    queue: DirectoryQueue
    file: TaskFile
    note: Attempt
    token: Token
    task: str
    place: Place | None  # where the file is; None when that has to be looked up
    journal: Journal | None = None
    unsynced: list[int] = field(default_factory=list)  # descriptors of what the disk is still to be asked to keep
    noted: bool = False
    misses: int = 0
    again: float = 0.0
    trouble: str = ""

    @property
    def descriptors(self) -> list[int]:
        return self.unsynced + ([self.journal.fd] if self.journal is not None else [])

    @property
    def key(self) -> str:
        return f"{self.task}~{self.token}"


class Settling:
    def __init__(self, worker: str, say: Callable[[str], None], notices: Notices) -> None:
        self._worker, self._say, self._notices = worker, say, notices
        self._endings: dict[str, Ending] = {}
        self._later: list[Ending] = []  # those that the disk refused
        self._orders: queue.SimpleQueue[Ending] = queue.SimpleQueue()
        self._answers: queue.SimpleQueue[tuple[Ending, bool]] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    def __len__(self) -> int:
        return len(self._endings)

    @property
    def keys(self) -> set[str]:
        return set(self._endings)

    @property
    def is_stuck(self) -> bool:
        """The disk refuses, or cannot follow."""
        return bool(self._later) or len(self._endings) > 100

    @property
    def ids(self) -> set[str]:
        return {ending.task for ending in self._endings.values()}

    def add(self, queue: DirectoryQueue, running: Running, end: End) -> None:
        attempts.finish(running, end.status, end.text, end.result, end.usage)
        note = attempts.attempt_note(
            running, end.workers or self._worker, end.result, end.text, end.seconds, end.peak_memory
        )
        token = running.place.token
        assert token is not None
        # Who was fenced may own nothing any more: it looks before it writes.
        place = None if end.result == "fenced" else running.place
        unsynced = [running.facts] if running.facts >= 0 else []
        ending = Ending(queue, running.file, note, token, running.place.id, place, running.journal, unsynced)
        if end.result == "cancelled":
            _release(ending)  # its file is gone, or somebody else's
            self._notices.ended(queue, running.file, note, "")
            cancelling.confirm(queue, running.place)
            return
        self.settle(ending)

    def settle(self, ending: Ending) -> None:
        """Write the note, and have the rest done."""
        if ending.place is not None and not ending.noted:
            with contextlib.suppress(OSError):  # the thread finds out what is the matter
                _write(ending, ending.place)
        self._notices.ended(ending.queue, ending.file, ending.note, _destination(ending, ending.place).state)
        self._endings[ending.key] = ending
        self._orders.put(ending)
        if self._thread is None:
            self._begin()

    def _begin(self) -> None:
        self._thread = threading.Thread(target=self._serve, args=(self._orders,), daemon=True)
        self._thread.start()

    def work(self) -> None:
        """See what has been settled, and have it tried again what has not."""
        while not self._answers.empty():
            ending, settled = self._answers.get()
            if settled:
                self._endings.pop(ending.key, None)
                if ending.trouble:
                    self._say(ending.trouble)
                continue
            if ending.trouble:
                self._say(ending.trouble)
                ending.trouble = ""
            self._later.append(ending)
        if self._thread is not None and not self._thread.is_alive():  # should something have gone wrong in it
            self._say("results are settled by a new thread")
            self._orders = queue.SimpleQueue()
            for ending in self._endings.values():
                if ending not in self._later:
                    self._orders.put(ending)
            self._begin()
        if self._later:
            now = time.monotonic()
            for ending in [e for e in self._later if now >= e.again]:
                self._later.remove(ending)
                self._orders.put(ending)

    # The thread

    def _serve(self, orders: queue.SimpleQueue[Ending]) -> None:
        directories: dict[Path, None] = {}
        synced, last = time.monotonic(), -1e9
        while True:
            batch: list[Ending] = []
            with contextlib.suppress(queue.Empty):
                batch.append(orders.get(timeout=DIRECTORIES_SECONDS if directories else None))
                if time.monotonic() - last < BUSY_SECONDS:
                    time.sleep(GATHER_SECONDS)
                while True:
                    batch.append(orders.get_nowait())
            self._settle_all(batch, directories)
            last = time.monotonic()
            if directories and (not batch or time.monotonic() - synced > DIRECTORIES_SECONDS):
                for directory in directories:
                    files.sync_directory(directory)
                directories.clear()
                synced = time.monotonic()

    def _settle_all(self, batch: Sequence[Ending], directories: dict[Path, None]) -> None:
        commit.start([descriptor for ending in batch for descriptor in ending.descriptors])
        for ending in batch:
            settled = False
            try:
                settled = self._settle(ending)
                if settled and ending.place is not None:
                    directories[ending.queue.directory(ending.place.state)] = None
            except Exception as error:  # whatever it is, others wait for this thread
                why = error.strerror if isinstance(error, OSError) else repr(error)
                ending.trouble = f"{ending.note.outcome}, but the disk does not take it ({why}): {ending.task}"
            if settled:
                _release(ending)
            else:
                ending.again = time.monotonic() + AGAIN_SECONDS
            self._answers.put((ending, settled))

    def _settle(self, ending: Ending) -> bool:
        """True when there is nothing more to do. What is known of the place is tried first, then a listing."""
        for _ in range(3):
            if ending.place is not None and self._move(ending, ending.place):
                return True
            if self._find(ending):
                return True
            if ending.place is None:
                break
        return False

    def _move(self, ending: Ending, place: Place) -> bool:
        try:
            if not ending.noted:
                _write(ending, place)
            _sync(ending)
        except FileNotFoundError:
            return False
        to = _destination(ending, place)
        if not ending.queue.move(place, to):
            return False
        ending.place = to
        return True

    def _find(self, ending: Ending) -> bool:
        """Look where the file is; True when it is ours no more."""
        listing = ending.queue.list(LOOK)
        same = [p for p in listing.places if p.id == ending.task]
        ending.place = next((p for p in same if p.token == ending.token), None)
        if ending.place is not None and ending.place.state == CANCELLED:  # it ended by itself before we saw that
            cancelling.confirm(ending.queue, ending.place)
            return True
        if ending.place is not None or not listing.sure:
            return False
        ending.misses += 1
        if ending.misses < 2:
            return False
        ending.trouble = (
            f"{ending.note.outcome}, but its file is gone or another's; filed with the run: {ending.note.output}"
        )
        return True


def _destination(ending: Ending, place: Place | None) -> Place:
    at = place or Place(ACTIVE, ending.task)
    if ending.note.outcome == "lost":  # with the worker of one of its ranks
        return ended(at, after_loss(at.state, ending.file.losses + 1))
    failures = sum(attempt.outcome in ("failed", "timed out") for attempt in ending.file.attempts)
    return ended(at, destination(at.state, ending.note.outcome, failures, ending.file.task.retries))


def _write(ending: Ending, place: Place) -> None:
    """The note, into the file: what is killed now has not been in vain."""
    descriptor = ending.queue.write(place, render_attempt(ending.note, ending.file.fence))
    ending.unsynced.append(descriptor)
    ending.noted = True


def _sync(ending: Ending) -> None:
    while ending.unsynced:
        os.fdatasync(ending.unsynced[-1])
        os.close(ending.unsynced.pop())
    if ending.journal is not None:
        ending.journal.close()
        ending.journal = None


def _release(ending: Ending) -> None:
    while ending.unsynced:
        os.close(ending.unsynced.pop())
    if ending.journal is not None:
        ending.journal.close()
        ending.journal = None

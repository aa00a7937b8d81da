"""How attempts ended, written into their tasks' files, and the files moved where they belong: tried again for as long
as the disk refuses, because a result that is in nobody's hands would be a task that waits for ever.

The note is written at once, so that a kill of this worker does not lose it. Then a thread brings all that has come
together (the note, the run's facts and journal) to the disk in one go, while the worker starts the next task, and the
file is moved after that. When the power fails before the rename is on the disk, the file is still in `active/`, with a
note that says how the attempt ended; whoever takes it over moves it where it belongs and does not run it again. So the
directories themselves are brought to the disk only now and then.
"""

from __future__ import annotations

import contextlib
import os
import queue
import threading
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import msgspec

from paddock import files
from paddock.queue import commit
from paddock.queue.directory import DirectoryQueue
from paddock.queue.lifecycle import ACTIVE, CANCELLED, LOOK, Place, Token, after_loss, destination, ended
from paddock.queue.order import cancelling
from paddock.queue.task import Attempt, TaskFile, render_attempt
from paddock.record.journal import Journal
from paddock.work.attempts import attempt as attempts
from paddock.work.attempts.attempt import Running
from paddock.work.notices.notice import Notices

AGAIN_SECONDS = 1.0
BUSY_SECONDS, GATHER_SECONDS = 0.1, 0.05  # when results come so fast, they are waited for a moment, to share a commit
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


class Ending(msgspec.Struct):
    """An attempt that is over, and whose file is still to be moved."""

    queue: DirectoryQueue
    file: TaskFile
    note: Attempt
    token: Token
    task: str
    place: Place | None  # where the file is; None when that has to be looked up
    journal: Journal | None = None
    files: list[int] = msgspec.field(default_factory=list)  # descriptors of what the disk is to be asked to keep
    noted: bool = False
    synced: bool = False
    misses: int = 0
    again: float = 0.0
    trouble: str = ""

    @property
    def key(self) -> str:
        return f"{self.task}~{self.token}"


class Settling:
    def __init__(self, worker: str, say: Callable[[str], None], notices: Notices) -> None:
        self._worker, self._say, self._notices = worker, say, notices
        self._over: dict[str, tuple[DirectoryQueue, Running, End]] = {}  # attempts that `note` has to write of
        self.ended: Callable[[str], None] = lambda run: None  # told of each run after the last word in its journal
        self.over: Callable[[str, str], None] = lambda task, state: None  # told where each file goes
        self._endings: dict[str, Ending] = {}
        self._later: list[Ending] = []  # those that the disk refused
        self._syncing: set[str] = set()  # the keys of what the thread has
        self._orders: queue.SimpleQueue[Ending | None] = queue.SimpleQueue()
        self._answers: queue.SimpleQueue[Ending] = queue.SimpleQueue()
        self._hurry: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._directories: dict[tuple[DirectoryQueue, str], None] = {}  # where files were moved to
        self._thread: threading.Thread | None = None
        self.fd, self._wake = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)  # readable when there is something to `work` on

    def __len__(self) -> int:
        return len(self._over) + len(self._endings)

    @property
    def keys(self) -> set[str]:
        return {*self._over, *self._endings}

    @property
    def is_stuck(self) -> bool:
        """The disk refuses, or cannot follow."""
        return bool(self._later) or len(self._endings) > 100

    @property
    def ids(self) -> set[str]:
        return {ending.task for ending in self._endings.values()} | {
            running.place.id for _, running, _ in self._over.values()
        }

    def add(self, queue: DirectoryQueue, running: Running, end: End) -> None:
        """An attempt is over. What there is to write is written by `note`, when the next task is on its way: the
        worker has nothing else to do while that one starts."""
        self._over[running.key] = queue, running, end

    def note(self) -> None:
        """Write what is known of all that is over."""
        while self._over:
            self._note_end(*self._over.pop(next(iter(self._over))))

    def _note_end(self, queue: DirectoryQueue, running: Running, end: End) -> None:
        attempts.finish(running, end.status, end.text, end.result, end.usage)
        self.ended(running.place.id)
        note = attempts.attempt_note(
            running, end.workers or self._worker, end.result, end.text, end.seconds, end.peak_memory
        )
        token = running.place.token
        assert token is not None
        # Who was fenced may own nothing any more: it looks before it writes.
        place = None if end.result == "fenced" else running.place
        facts = [running.facts] if running.facts >= 0 else []
        ending = Ending(queue, running.file, note, token, running.place.id, place, running.journal, facts)
        if end.result == "cancelled":
            _release(ending)  # its file is gone, or somebody else's
            self._notices.ended(queue, running.file, note, "")
            cancelling.confirm(queue, running.place)
            return
        self.settle(ending)

    def settle(self, ending: Ending) -> None:
        """Write the note, and have the rest done."""
        self._endings[ending.key] = ending
        state = _destination(ending, ending.place).state
        self._notices.ended(ending.queue, ending.file, ending.note, state)
        self.over(ending.task, state)
        self._advance(ending)

    def work(self) -> None:
        """Move what is on the disk, and try again what was refused."""
        while not self._answers.empty():
            ending = self._answers.get()
            self._syncing.discard(ending.key)
            self._advance(ending)
        if self._thread is not None and not self._thread.is_alive():  # should something have gone wrong in it
            self._say("results are settled by a new thread")
            self._thread, self._orders = None, queue.SimpleQueue()
            for key in self._syncing:
                self._order(self._endings[key])
        if self._later:
            now = time.monotonic()
            for ending in [e for e in self._later if now >= e.again]:
                self._later.remove(ending)
                self._advance(ending)

    def hear(self) -> None:
        """`fd` has been readable."""
        with contextlib.suppress(BlockingIOError):
            os.read(self.fd, 512)

    def hurry(self) -> None:
        """There is nothing else to do."""
        if self._syncing:
            self._hurry.put(None)

    def _order(self, ending: Ending) -> None:
        self._syncing.add(ending.key)
        self._orders.put(ending)
        if self._thread is None:
            self._thread = threading.Thread(target=self._serve, args=(self._orders,), daemon=True)
            self._thread.start()

    def _advance(self, ending: Ending) -> None:
        """Do what is next, unless that is the thread's."""
        settled: bool | None = False
        try:
            settled = self._step(ending)
        except Exception as error:  # whatever it is, other results wait
            self._say(_refusal(ending, error))
        if settled is None:
            return
        if not settled:
            ending.again = time.monotonic() + AGAIN_SECONDS
            self._later.append(ending)
            return
        _release(ending)
        self._endings.pop(ending.key, None)
        if ending.trouble:
            self._say(ending.trouble)
        elif ending.place is not None:
            if not self._directories and self._thread is not None:
                self._orders.put(None)
            self._directories[ending.queue, ending.place.state] = None

    def _step(self, ending: Ending) -> bool | None:
        """True when there is nothing more to do, None when the thread has it, False when it is to be tried again."""
        if ending.trouble:
            self._say(ending.trouble)
            ending.trouble = ""
            return False
        if not ending.noted:
            return self._do(ending, self._note)
        if not ending.synced:
            self._order(ending)
            return None
        return self._do(ending, self._move)

    def _do(self, ending: Ending, act: Callable[[Ending, Place], bool | None]) -> bool | None:
        """What is known of the place is tried first, then a listing."""
        for _ in range(3):
            if ending.place is not None:
                done = act(ending, ending.place)
                if done is not False:
                    return done
            if self._find(ending):
                return True
            if ending.place is None:
                break
        return False

    def _note(self, ending: Ending, place: Place) -> bool | None:
        try:
            _write(ending, place)
        except FileNotFoundError:
            return False
        self._order(ending)
        return None

    def _move(self, ending: Ending, place: Place) -> bool:
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
            ending.place = None
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

    # The thread. It changes nothing: what it is given is on the disk when it answers, or has its trouble named.

    def _serve(self, orders: queue.SimpleQueue[Ending | None]) -> None:
        moved, last = time.monotonic(), -1e9
        while True:
            batch: list[Ending | None] = []
            with contextlib.suppress(queue.Empty):
                batch.append(orders.get(timeout=DIRECTORIES_SECONDS if self._directories else None))
                if time.monotonic() - last < BUSY_SECONDS:
                    self._gather()
                while True:
                    batch.append(orders.get_nowait())
            if endings := [ending for ending in batch if ending is not None]:
                _sync(endings)
                for ending in endings:
                    self._answers.put(ending)
                with contextlib.suppress(BlockingIOError):  # full: then it is readable
                    os.write(self._wake, b"s")
                last = time.monotonic()
            if self._directories and (not batch or time.monotonic() - moved > DIRECTORIES_SECONDS):
                directories, self._directories = self._directories, {}
                for place, state in directories:
                    files.sync_directory(place.directory(state))
                moved = time.monotonic()

    def _gather(self) -> None:
        """Wait for more, unless somebody waits for what there is."""
        with contextlib.suppress(queue.Empty):
            self._hurry.get(timeout=GATHER_SECONDS)
            while True:
                self._hurry.get_nowait()


def _destination(ending: Ending, place: Place | None) -> Place:
    at = place or Place(ACTIVE, ending.task)
    if ending.note.outcome == "lost":  # with the worker of one of its ranks
        return ended(at, after_loss(at.state, ending.file.losses + 1))
    failures = sum(attempt.outcome in ("failed", "timed out") for attempt in ending.file.attempts)
    return ended(at, destination(at.state, ending.note.outcome, failures, ending.file.task.retries))


def _write(ending: Ending, place: Place) -> None:
    """The note, into the file: what is killed now has not been in vain."""
    descriptor = ending.queue.write(place, render_attempt(ending.note, ending.file.fence))
    ending.files.append(descriptor)
    ending.noted = True


def _sync(endings: Sequence[Ending]) -> None:
    journals = [ending.journal.fd for ending in endings if ending.journal is not None]
    everything = [*journals, *(descriptor for ending in endings for descriptor in ending.files)]
    together = commit.sync_together(everything, len(everything))
    if not together:
        commit.start(everything)
    for ending in endings:
        try:
            for descriptor in () if together else ending.files:
                os.fdatasync(descriptor)
            if ending.journal is not None and not together:
                ending.journal.sync()
            ending.synced = True
        except OSError as error:
            ending.trouble = _refusal(ending, error)


def _refusal(ending: Ending, error: Exception) -> str:
    why = error.strerror if isinstance(error, OSError) else repr(error)
    return f"{ending.note.outcome}, but the disk does not take it ({why}): {ending.task}"


def _release(ending: Ending) -> None:
    while ending.files:
        os.close(ending.files.pop())
    if ending.journal is not None:
        ending.journal.dirty = ending.journal.dirty and not ending.synced
        ending.journal.close()
        ending.journal = None

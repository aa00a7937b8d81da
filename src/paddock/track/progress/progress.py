"""How far the work has come: counted in memory, written as a record that says where it stands.

    with Progress.new(total=100, msg=("step", "Message")) as progress:
        for _ in range(100):
            progress.advance(1)

Every record says the whole of what this process has done, so that a lost one is healed by the next. Each process counts
its own share; what was done in all is the sum of the shares, so that nothing is counted twice and nothing waits for
anybody. The first step after a tenth of a second is written at once, those that follow it by the keeper.
"""

from __future__ import annotations

import hashlib
import os
import threading
from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING, Any

from paddock import wire
from paddock.track import active
from paddock.track.lines.wording import shown
from paddock.track.progress import shares
from paddock.track.values import as_number

if TYPE_CHECKING:
    from paddock.track.run import Run

RUNNING, DONE, FAILED = "running", "done", "failed"
APART_SECONDS = 0.1  # between two records of one bar
SETTLE_SECONDS = 1.0  # after a loop was left: by then an exception would have ended the run
LONGEST_TEXT = 400  # characters of one part of a message

Message = Any  # a text, or several in a tuple; whatever it is, it is shown and never raises


class Progress:
    """Made by `Progress.new()`. Without a run it counts, and nothing is written."""

    @classmethod
    def new(
        cls, total: float | None = None, msg: Message = "", unit: str | None = None, key: str | None = None
    ) -> Progress:
        """Begin to count to `total`, which may be unknown. `key` makes it one bar with those of the same key in the
        other processes of the run."""
        return cls(total, msg, unit, key)

    def __init__(
        self, total: float | None = None, msg: Message = "", unit: str | None = None, key: str | None = None
    ) -> None:
        self._lock = threading.RLock()  # re-entrant: a signal handler may come in between
        self._total, self._msg, self._unit, self._key = total, _words(msg), unit, key
        self._share: Any = 0  # what this process has done
        self._told: Any = 0  # as it was written last
        self._base: Any = 0  # what had been done elsewhere when this process came to it
        self._state = RUNNING
        self._parts = key is not None
        self._maker = True
        self._pid = os.getpid()
        self._run: Run | None = None
        self._run_id = ""
        self._id = ""  # as long as there is no run
        self._waiting = False  # the keeper will write it
        self._writing = False  # it is just being written
        self._written = 0.0  # when, by the monotonic clock
        self._left = 0.0  # when it will be over, unless the run is before
        with self._lock:
            self._write()
            self._written = 0.0  # the first step is written at once, whatever becomes of the process then

    # What people ask and say

    @property
    def id(self) -> str:
        return self._id

    @property
    def done(self) -> Any:
        """As far as this process knows."""
        return self._base + self._share

    @property
    def state(self) -> str:
        return self._state

    @property
    def total(self) -> float | None:
        return self._total

    @total.setter
    def total(self, total: float | None) -> None:
        with self._lock:
            if total != self._total:
                self._total = total
                self._touch()

    @property
    def msg(self) -> tuple[str, ...]:
        return tuple(self._msg)

    @msg.setter
    def msg(self, msg: Message) -> None:
        with self._lock:
            if (words := _words(msg)) != self._msg:
                self._msg = words
                self._touch()

    def advance(self, n: float = 1, distributed: bool = False) -> None:
        """So much more is done. From any thread, and from any process that has the object or its `key`; `distributed`
        says that other ranks of the launch count the same work."""
        with self._lock:
            try:
                self._share += n
            except TypeError:
                self._refuse(n)
                return
            if distributed and not self._parts:
                self._share_with_others()
            if not self._waiting:
                self._touch()

    def update(self, done: float) -> None:
        """So much is done in all, as far as this process knows."""
        with self._lock:
            try:
                self._share = done - self._base
            except TypeError:
                self._refuse(done)
                return
            if not self._waiting:
                self._touch()

    def close(self, *, failed: bool = False) -> None:
        """It is over. What was begun here ends here; a process that did a part of it writes its share down."""
        with self._lock:
            if self._state == RUNNING and self._maker:
                self._state = FAILED if failed else DONE
            self._write()
        if self._maker:
            shares.forget(self)

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close(failed=kind is not None)

    def __repr__(self) -> str:
        of = "" if self._total is None else f" of {self._total}"
        return f"<Progress {' '.join(self._msg)!r} {self.done}{of} {self._state}>"

    def __reduce__(self) -> tuple[Any, ...]:
        """What another process needs to count its own share of the same work."""
        with self._lock:
            about = (self._id, self._run_id, self.done, self._total, self._msg, self._unit, self._state)
        return join, about

    # How it gets into the journal

    def _touch(self) -> None:
        run = self._run
        if run is None or monotonic() - self._written >= APART_SECONDS:
            self._write()
            return
        if self._state != RUNNING:  # the callback of something that ended after the bar did
            shares.keep(run, self)
        self._waiting = True
        run._keeper.hurry()

    def _write(self) -> None:
        """Under the lock."""
        self._writing, self._waiting = True, False
        try:
            self._put()
        finally:
            self._writing = False

    def _put(self) -> None:
        run = self._bound()
        if run is None:
            return
        done, total = _number(self._share), _number(self._total)
        if done is None:  # nan, or no number at all: what was counted before that holds
            self._refuse(self._share)
            self._share = done = self._told
        self._told = done
        self._written = monotonic()
        run._append(
            {
                "k": "progress",
                "id": self._id,
                "total": total,
                "done": done,
                "msg": self._msg,
                "unit": None if self._unit is None else str(self._unit)[:LONGEST_TEXT],
                "state": self._state,
                "parts": self._parts,
            }
        )

    def _bound(self) -> Run | None:
        """The run that it is counted in: that of this process when there is one, also when it came later."""
        if self._run is not None and not self._run._closed:
            return self._run
        if self._run_id and not self._id:
            return None
        run = active.joined()
        if run is None or run.disabled or (self._run_id and run.id != self._run_id):
            return None
        if self._run is not None and self._run is not run:
            return None  # its own has ended
        journal = run._own()
        self._run, self._run_id = run, run.id
        if not self._id:
            own = f"{journal.path.name.removesuffix('.jsonl')}.p{shares.number()}"
            self._id = own if self._key is None else _shared_id(run, self._key)
        shares.keep(run, self)
        return run

    def _share_with_others(self) -> None:
        """Ranks make their bars each by itself: those that say the same count the same work."""
        self._parts = True
        run = self._bound()
        if run is None or run.rank is None or not self._maker:
            return
        words = wire.encode([self._msg, _number(self._total), self._unit])
        number = shares.occurrence(run, words)
        before, self._id = self._id, _shared_id(run, f"{hashlib.sha256(words).hexdigest()[:12]}.{number}")
        shares.rename(before, self)
        run._append({"k": "progress", "id": before, "into": self._id, "done": 0, "state": self._state, "parts": True})
        self._write()

    def _leave(self) -> None:
        """A loop over it was left early. Should an exception be the reason, the run is about to end; else it was done
        with."""
        with self._lock:
            self._left = monotonic() + SETTLE_SECONDS
            self._write()

    def _write_waiting(self) -> bool:
        if self._left and monotonic() > self._left:
            self.close()
        with self._lock:
            # A signal may end this process while it writes: then nobody comes back to that.
            if not self._waiting and not self._writing:
                return False
            if self._pid == os.getpid():
                self._write()
            return True

    def _forked(self) -> None:
        """In a forked child: its share begins at nothing."""
        self._lock = threading.RLock()
        self._base, self._share, self._told = self._base + self._share, 0, 0
        self._pid, self._maker, self._parts = os.getpid(), False, True
        self._run, self._written = None, 0.0  # bound anew, to the journal of this process
        self._waiting = self._writing = False

    def _ended(self, failed: bool) -> None:
        """The run ends, and this with it."""
        with self._lock:
            if self._state == RUNNING and self._maker:
                self._state = FAILED if failed else DONE
                self._write()
            elif self._waiting:
                self._write()
            self._waiting = False

    def _process_ended(self, failed: bool) -> None:
        """Of itself, while the run goes on elsewhere: nobody will say any more that this is over."""
        run = self._run
        if run is not None and self._pid == os.getpid() and not (run._hooks and run._hooks.is_ours):
            self._ended(failed)
        else:
            self._write_waiting()

    def _refuse(self, value: Any) -> None:
        if self._run is not None:
            self._run._drop("progress", 1, f"progress: {type(value).__name__} is no number")


def join(id: str, run_id: str, done: Any, total: Any, msg: list[str], unit: str | None, state: str) -> Progress:
    """The share that this process has in somebody's work: one, however often it is handed over."""
    if (known := shares.find(id)) is not None:
        return known
    made = Progress.__new__(Progress)
    made._lock = threading.RLock()
    made._total, made._msg, made._unit, made._key = total, msg, unit, None
    made._share, made._told, made._base, made._state = 0, 0, done, state
    made._parts, made._maker, made._pid = True, False, os.getpid()
    made._run, made._run_id, made._id = None, run_id or "-", id
    made._waiting, made._writing, made._written, made._left = False, False, 0.0, 0.0
    if not id or shares.is_over(id):
        made._id = ""  # nobody counts on it
        return made
    return shares.found_or(id, made)


def _shared_id(run: Run, key: str) -> str:
    return f"shared.{run.attempt}.{key}"


def _words(msg: Message) -> list[str]:
    parts = msg if isinstance(msg, list | tuple) else [msg]
    return [wire.text(text)[:LONGEST_TEXT] for text in map(shown, parts) if text]


def _number(value: Any) -> int | float | None:
    if type(value) is int:
        return value if -(2**63) < value < 2**63 else float(value)
    found = as_number(value) if value is not None else None
    return None if found is None or found - found != 0 else found

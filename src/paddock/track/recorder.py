"""The writing half of a run: this process's journal, and log() into it.

log() is called in the training loop, so its common case is one straight line: known names, ordinary finite numbers,
one encoded row, one write(). Everything else (new names, nested dicts, tensors, NaN, texts, images) takes the slow
path below it, and ends in the same journal. Nothing here raises into the loop.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from operator import attrgetter
from os import write
from time import time_ns
from typing import Any
from zlib import crc32

from paddock import wire
from paddock.record.journal import Columns, Journal
from paddock.record.process import oom_kills
from paddock.track import notice
from paddock.track.keeper import Keeper
from paddock.track.things.media import Media
from paddock.track.values import Sorted, as_step, sort

encode = wire.encode
LIMIT = 2**63 - 1  # of a step


class Recorder:
    def __init__(self, open_journal: Callable[[], Journal], *, sync_seconds: float, beat_seconds: float) -> None:
        self._open_journal = open_journal
        self._sync_seconds, self._beat_seconds = sync_seconds, beat_seconds
        self._step = 0
        self._beats = 0
        self._dropped: dict[str, int] = {}
        self._closed = False
        self._final: dict[str, Any] = {}
        self._lines: Journal | None = None  # of what the `logging` module is given, opened with the first line
        self._lines_again = 0.0  # when it is tried again, after the disk refused it
        self._gatherers: list[Callable[[], bool]] = []  # write what they have gathered; whether more is to come soon
        self._attach()

    def _attach(self) -> None:
        """Open this process's journal. Each process has its own; after a fork the child opens another."""
        self._pid = os.getpid()
        self._journal = self._open_journal()
        self._lock = self._journal.lock
        self._acquire, self._release = self._lock.acquire, self._lock.release
        self._columns = self._journal.columns
        self._started = round(self._journal.started * 1e9)
        self._lines = None
        self._keeper = Keeper(
            self._journals,
            sync_seconds=self._sync_seconds,
            beat=self._beat,
            beat_seconds=self._beat_seconds,
            removed=self._put_back,
            gathered=self._gather,
        )

    def _journals(self) -> list[Journal]:
        return [self._journal] if self._lines is None else [self._journal, self._lines]

    def _gather(self) -> bool:
        return sum(gatherer() for gatherer in self._gatherers) > 0

    def _after_fork(self) -> None:
        """In the child: let go of the parent's journal, whose lock another thread may hold for ever. A new one is
        opened when the child has something to say."""
        self._lock = threading.RLock()
        self._acquire, self._release = self._lock.acquire, self._lock.release
        self._columns = {}
        self._dropped = {}
        self._lines = None

    def _own(self) -> Journal:
        if self._pid != os.getpid():
            with self._lock:
                if self._pid != os.getpid():
                    self._attach()
        return self._journal

    def log(
        self, data: Mapping[str, Any], step: int | None = None, commit: bool | None = None, sync: bool | None = None
    ) -> None:
        """Record values at a step. Without `step`, the steps count up by themselves, one each call.

        Keys are grouped by `/`; nested dicts flatten to such keys. Every point is kept, at whatever step it comes,
        and the latest one of a step is the one shown.
        """
        try:
            columns = self._columns[tuple(data)]
            values = data.values()
            total = sum(values)
            kind = type(total)
            # An ordinary sum means ordinary addends; NaN and infinities show in it (x - x is 0 for no other number).
            if (kind is not float and kind is not int) or total - total != 0:
                raise TypeError
            if step is not None and (type(step) is not int or not -LIMIT <= step < LIMIT):
                raise TypeError
        except Exception as error:
            if raised_by_handler(error):
                raise
            self._log_any(data, step, commit)
            return
        self._acquire()  # and release: half the price of `with`, which looks both up on the type
        try:
            at = self._step if step is None else step
            now = time_ns()
            try:
                body = encode([columns.id, at, (now - self._started) // 1_000_000, *values])[:-1]
            except (TypeError, ValueError, OverflowError):  # a stranger among the addends after all
                body = b""
            if body:
                line = b"%b,%d]\n" % (body, crc32(body))
                journal = self._journal
                if journal.waiting:
                    journal.write(line)
                else:
                    try:
                        written = write(journal.fd, line)
                    except OSError as error:
                        journal.refused(line, error)
                    else:
                        if written != len(line):
                            journal.torn(line, written)
                journal.dirty = True
                # As wandb does it: an explicit step stays current, an implicit one is used up.
                self._step = at if (commit is False if step is None else not commit) else at + 1
                columns.last, columns.at = body, now  # decoded when somebody asks for the summary
                columns.redeclare -= 1
                if columns.redeclare == 0:
                    journal.redeclare(columns)
                return
        finally:
            self._release()
        self._log_any(data, step, commit)

    def _log_any(self, data: Any, step: Any, commit: bool | None) -> None:
        with self._guarded("a value"):
            if self._closed:
                self._drop("closed", 1, "log() after finish() records nothing")
                return
            if not isinstance(data, Mapping):
                self._drop("not a dict", 1, f"log() takes a dict of names and values, not a {type(data).__name__}")
                return
            self._own()
            found = sort(data)
            self._log_sorted(found, {}, self._next_step(step, commit, found))

    def _log_sorted(self, found: Sorted, tags: dict[str, str], step: int) -> None:
        for one in found.earlier:
            self._log_sorted(one, tags, step)
        with self._lock:
            if found.numbers:
                self._row(tuple(found.numbers), tags, [*found.numbers.values()], step)
        self._log_rest(self._journal, found, step)

    @contextmanager
    def _guarded(self, what: str) -> Iterator[None]:
        """Whatever goes wrong inside costs a notice and a counter. What a signal handler of the script raises is not
        ours, and goes on its way."""
        try:
            yield
        except Exception as error:
            if raised_by_handler(error):
                raise
            self._drop("error", 1, f"{what} could not be recorded ({type(error).__name__}: {_words(error)})")

    def _next_step(self, step: Any, commit: bool | None, found: Sorted) -> int:
        with self._lock:
            if step is not None:
                whole = as_step(step)
                if whole is not None:
                    self._step = whole + 1 if commit else whole
                    return whole
                notice.say_once("step", f"step {step!r} is no whole number; such values get the next step instead")
                found.texts.setdefault("step", str(step))
            at = self._step
            if commit is not False:
                self._step = at + 1
            return at

    def _row(self, names: tuple[str, ...], tags: dict[str, Any], values: list[Any], step: int) -> None:
        """Write one row, declaring its names when they are new."""
        key: Any = (names, tuple(sorted(tags.items()))) if tags else names
        columns = self._columns.get(key) or self._journal.column_set(names, tags, key)
        now = time_ns()
        self._journal.write(wire.row_line([columns.id, step, (now - self._started) // 1_000_000, *values]))
        columns.last, columns.at = values, now
        columns.redeclare -= 1
        if columns.redeclare == 0:
            self._journal.redeclare(columns)

    def _log_rest(self, journal: Journal, found: Sorted, step: int) -> None:
        for name, text in found.texts.items():
            journal.append_now({"k": "text", "step": step, "name": name, "text": text})
        for name, value in found.values.items():
            journal.append_now({"k": "value", "step": step, "name": name, "value": value})
        for name, media in found.media.items():
            with self._guarded(repr(name)):
                self._log_media(name, media, step)
        for number, (name, why) in enumerate(found.dropped.items()):
            once = f"unserialisable {name}" if number < 5 else "unserialisable"
            self._drop("unserialisable", 1, f"{name!r} was not recorded: {why}", once=once)

    def _log_media(self, name: str, media: Media, step: int) -> None:
        raise NotImplementedError

    def _append(self, record: dict[str, Any]) -> None:
        """Append a record of any kind, now; a closed run says so once instead of raising."""
        if self._closed:
            self._drop("closed", 1, f"a {record['k']!r} record after finish() is not kept")
            return
        with self._guarded(f"a {record['k']!r} record"):
            journal = self._own()
            try:
                journal.append_now(dict(record))
            except (TypeError, ValueError):  # something in it is no JSON: keep the rest
                journal.append_now(wire.plain(record).value)

    def _drop(self, why: str, count: int, sentence: str, once: str = "") -> None:
        """Count what could not be kept, and say it once."""
        self._dropped[why] = self._dropped.get(why, 0) + count
        notice.say_once(once or why, sentence)

    def _last_values(self) -> dict[str, Any]:
        found = dict(self._final)
        sets: list[Columns] = [*self._columns.values()]
        for columns in sorted(sets, key=attrgetter("at")):  # of a metric that is in several, the latest counts
            last = wire.loads(columns.last + b"]")[3:] if isinstance(columns.last, bytes) else columns.last
            found.update(zip(columns.names, map(_revived, last), strict=False))
        return found

    def _put_back(self, journal: Journal) -> None:
        """The journal was removed while we write it (packed on another host that thought us dead, or by hand)."""
        if not journal.put_back():
            notice.say_once("removed", f"{journal.path} was removed; what is logged from here on is not kept")

    def _beat(self) -> None:
        self._beats += 1
        self._journal.append_now({"k": "beat", "n": self._beats, "oom": oom_kills()})
        self._tell_dropped()

    def _tell_dropped(self) -> None:
        journal = self._journal
        if journal.refusal:
            notice.say_once(
                "refused",
                f"the disk refuses {journal.path} ({journal.refusal}); the record waits in memory, and is tried again",
            )
        if journal.dropped:
            self._dropped["disk refused"] = journal.dropped
        if self._lines is not None and self._lines.dropped:
            self._dropped["log lines refused by the disk"] = self._lines.dropped
        if self._dropped:
            journal.append_now({"k": "dropped", "counts": dict(self._dropped)})

    def _detach(self) -> None:
        """Close the journal. What the disk still refuses goes to a file on local disk, named in the notice."""
        self._keeper.stop()
        journals, self._lines = self._journals(), None
        for journal in journals:
            if not journal.retry():
                _spill(journal)
            journal.close()


def raised_by_handler(error: BaseException) -> bool:
    """Whether a signal handler of the script raised this while we were at work (a preemption, a timeout): Python runs
    handlers between any two steps of whatever is running."""
    trace = error.__traceback__.tb_next if error.__traceback__ else None
    if trace is None:
        return False
    handlers = [signal.getsignal(number) for number in signal.valid_signals()]
    codes = {code for h in handlers if (code := getattr(getattr(h, "__func__", h), "__code__", None)) is not None}
    while trace is not None:
        if trace.tb_frame.f_code in codes:
            return True
        trace = trace.tb_next
    return False


def _words(error: BaseException) -> str:
    try:
        return str(error)[:300]
    except Exception:
        return "it cannot say why"


def _revived(value: Any) -> Any:
    return float("nan") if value is None else float(value) if isinstance(value, str) else value


def _spill(journal: Journal) -> None:
    import shlex
    import tempfile

    try:
        directory = tempfile.mkdtemp(prefix="paddock-spill-")
        path = os.path.join(directory, journal.path.name)
        with open(path, "wb") as file:
            file.writelines(journal.waiting)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        notice.say(f"{len(journal.waiting)} records could not be written anywhere ({error}).")
        return
    notice.say(
        f"the disk refused {len(journal.waiting)} records to the end. They are in {path}; once there is room:\n"
        f"    cat {shlex.quote(path)} >> {shlex.quote(str(journal.path))}"
    )

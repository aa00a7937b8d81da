"""What this process uses, sampled by its keeper or by a thread of its own, and what becomes of that: it waits in a ring
until somebody of the run makes a checkpoint, and goes to the journal of this process in batches from then on.

That a checkpoint was made is a file in the run's directory: processes that only work, as those of a pool, see it there.
"""

from __future__ import annotations

import os
import threading
import time
from typing import Any

from paddock.gauge.gpus import GpuMeter
from paddock.gauge.own import OwnMeter
from paddock.track.keeper import Keeper
from paddock.track.usage.ring import Ring, Row, Stretch
from paddock.track.usage.target import Target, target

FIRST_SECONDS, BATCH_SECONDS = 1.0, 10.0  # a young process writes more often: it may leave without a word
LEAST_SECONDS = 0.01
_MEANS = frozenset({"cpu", "gpu", "read", "write"})  # of the others the largest value counts


class Sampler:
    """Of one process; a forked child makes its own."""

    def __init__(self, every: float, *, marked: bool = False, keeper: Keeper | None = None) -> None:
        """`keeper`: the thread that the process has anyway, which samples when its pace is the same."""
        self.every = max(every, LEAST_SECONDS)
        self.marked = marked
        self._pid = os.getpid()
        self._meter, self._gpus = OwnMeter(), GpuMeter(self.every)
        self.without_gpus = self._gpus.why
        self.columns = self._meter.columns + (() if self._gpus.why else ("gpu", "gpu_memory"))
        self._ring = Ring(self.every, tuple(name in _MEANS for name in self.columns))
        self._sampled = self._written = time.monotonic()
        self._pause, self._samples = FIRST_SECONDS, 0
        # Of the samples; never held while something is written. Re-entrant: a signal may end the run in the middle.
        self._lock = threading.RLock()
        self._keeper = keeper if keeper is not None and keeper.seconds == self.every else None
        self._stop = threading.Lock()  # held until it is to stop: to wake from a lock costs less than from an Event
        self._stop.acquire()
        if self._keeper is not None:
            self._keeper.ticks.append(self._tick)
        else:
            threading.Thread(target=self._work, name="paddock-usage", daemon=True).start()

    def mark(self, into: Target) -> None:
        """From now on samples are written, by all processes of the run."""
        if not self.marked:
            self.marked = True
            try:
                os.close(os.open(into.marker, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o644))
            except OSError:
                pass  # then only this process knows
            self.flush()

    def flush(self) -> None:
        """Write what is there, if anybody wants it."""
        into = target()
        if into is None:
            return
        self.marked = self.marked or os.path.exists(into.marker)
        if self.marked:
            with self._lock:
                stretches, self._written = self._ring.take(), time.monotonic()
            into.append([self._record(stretch) for stretch in stretches])

    def last(self) -> None:
        """One sample more, and everything written: the process ends, or the run. However short it was, it has one."""
        if not self._samples or time.monotonic() - self._sampled > self.every / 10:
            self._sample()
        self.flush()

    def stop(self) -> None:
        """Once."""
        self._stop.release()
        if self._keeper is not None:
            self._keeper.ticks = [tick for tick in self._keeper.ticks if tick != self._tick]

    def forget(self) -> None:
        """In a forked child: these files tell of the parent."""
        self._meter.close()
        self._gpus.close()

    def _work(self) -> None:
        due = time.monotonic() + self.every
        while not self._stop.acquire(timeout=max(0.0, due - time.monotonic())):
            self._tick()
            # What was missed, by a machine that slept or a thread that nobody let run, is not made up for.
            due = max(due + self.every, time.monotonic())

    def _tick(self) -> None:
        try:
            self._sample()
            if time.monotonic() - self._written >= self._pause:
                self._written, self._pause = time.monotonic(), min(2 * self._pause, BATCH_SECONDS)
                self.flush()
        except Exception:  # a number that cannot be had is not worth a word in somebody's training
            pass

    def _sample(self) -> None:
        values = self._meter.read()
        if "gpu" in self.columns:
            share = self._gpus.share(self._pid)
            busy = None if share is None or share.busy is None else round(share.busy, 1)
            values += [busy, None if share is None else share.memory]
        with self._lock:
            self._sampled, self._samples = time.monotonic(), self._samples + 1
            self._ring.add([self._sampled, *values])

    def _record(self, stretch: Stretch) -> dict[str, Any]:
        now = time.monotonic()
        rows: list[Row] = [[round(1000 * (at - now)), *values] for at, *values in stretch.rows]
        return {"k": "usage", "every": round(stretch.every, 3), "columns": ["ms", *self.columns], "rows": rows}

"""Which training run each directory's checkpoints belong to, known before a checkpoint comes: to look it up in the
catalog takes longer than everything else between a checkpoint and its evaluation."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterable

from paddock.evaluate.origin.series import series_of
from paddock.evaluate.training import run as training
from paddock.model import RunRow
from paddock.record.layout import Home, RunDirectory

FIRST_SECONDS = 0.5  # who only looks once has ended by then
LOOK_SECONDS = 10.0  # between two looks while the run of some directory is not known
CALM_SECONDS = 60.0  # and while all are: another training may begin in the same directory
_SHARE = 0.02  # of the time at most is spent with them
_NO_TRAININGS = ("eval-", "watched-", ".")  # how the ids of ours begin, and what is no run
_FEW = 5_000  # runs, whose names can be listed while a checkpoint waits


class Parentage:
    def __init__(self, home: Home, runs: Callable[[], Iterable[RunRow]]) -> None:
        """`runs`: all of them, as they are now, asked from a thread."""
        self._home, self._runs = home, runs
        self._known: dict[str, str] = {}  # by the directory of the training
        self._expected: set[str] = set()  # directories in which checkpoints may come
        self._stamp = -1  # of the directory of runs, when it was last looked at
        self._sure = False  # a run that had just been made has its facts by now
        self._missed: set[str] = set()  # directories of which no run was found then
        self._names: set[str] | None = None  # of the runs that there were then, if they are few
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def __call__(self, path: str) -> str:
        """The run of a checkpoint; one is made when there is none."""
        directory = series_of(path)
        if directory not in self._known and not (directory in self._missed and self._is_fresh()):
            self._expected.add(directory)
            self.look()
        elif directory in self._known and self._has_begun():
            with contextlib.suppress(Exception):  # as below: what was known holds until the next look succeeds
                self.look()
        return self._known.get(directory) or self._made(directory)

    def expect(self, directories: Iterable[str]) -> None:
        """Checkpoints may come there: their runs are looked up meanwhile, by a thread."""
        self._expected.update(series_of(os.path.join(directory, "checkpoint")) for directory in directories)
        if self._thread is None:
            self._thread = threading.Thread(target=self._keep, name="paddock-parentage", daemon=True)
            self._thread.start()

    def look(self) -> None:
        """Find the runs of all these directories. Where there is none yet nothing is made: a trainer may be about to
        begin one."""
        with self._lock:
            stamp, self._stamp = self._stamp, self._now()
            names = self._with_facts(self._listed())
            self._sure = stamp == self._stamp
            index = training.Index(self._home, self._runs())
            found = {directory: index.find(directory) for directory in tuple(self._expected)}
            self._known |= {directory: run for directory, run in found.items() if run}
            self._missed = {directory for directory, run in found.items() if not run}
            self._names = names

    def close(self) -> None:
        self._over.set()

    def _made(self, directory: str) -> str:
        self._known[directory] = training.make(self._home, directory)
        return self._known[directory]

    def _keep(self) -> None:
        pause = FIRST_SECONDS
        while not self._over.wait(pause):
            began = time.monotonic()
            if not self._is_fresh() or self._expected - self._known.keys() - self._missed:
                try:
                    self.look()
                except Exception:  # a catalog that is being rebuilt, a disk that refuses: the next look may succeed
                    self._sure = False
            unknown = bool(self._expected - self._known.keys())
            pause = max(LOOK_SECONDS if unknown else CALM_SECONDS, (time.monotonic() - began) / _SHARE)

    def _has_begun(self) -> bool:
        """Whether a training may have begun since the last look: the next one in the same directory has its own
        scores from its first checkpoint on. An evaluation, of which there is one for each checkpoint, is none."""
        names, now = self._names, None if self._is_fresh() else self._listed()
        if names is None or now is None:
            return False
        if not all(name.startswith(_NO_TRAININGS) for name in now - names):
            return True
        self._names = now
        return False

    def _listed(self) -> set[str] | None:
        try:
            names = os.listdir(self._home.runs)
        except OSError:
            return None
        return set(names) if len(names) <= _FEW else None

    def _with_facts(self, names: set[str] | None) -> set[str] | None:
        """Without those that are just being made: the catalog knows nothing of them yet."""
        if names is None:
            return None
        return {
            name for name in names if name in (self._names or ()) or RunDirectory(self._home.runs / name).facts.exists()
        }

    def _is_fresh(self) -> bool:
        return self._sure and self._now() == self._stamp

    def _now(self) -> int:
        """Another number when runs have come or gone."""
        try:
            return os.stat(self._home.runs).st_mtime_ns
        except OSError:
            return -1

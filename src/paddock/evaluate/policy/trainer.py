"""What is known of the training from its run: whether it is over, and which processes it has; and asking it to stop."""

from __future__ import annotations

import os
import signal
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from paddock import files, wire
from paddock.evaluate.policy.ending import OVER, RUNNING, UNKNOWN
from paddock.evaluate.training.run import is_made
from paddock.model import FAILED, FINISHED, KILLED, LOST, RunRow
from paddock.record.layout import Home
from paddock.record.process import boot_id, exists
from paddock.record.scan import header, journal_files

GRACE_SECONDS = (
    60.0  # a training that was over when the watch began may be an earlier one: another has so long to begin
)
LOST_SECONDS = 60.0  # a run without a sign of life for so long beyond what makes it lost does not come back


class Trainings(NamedTuple):
    """Of the catalog, which knows the runs."""

    find: Callable[[str], str]  # the run that trains into a directory now; "" when none is recorded
    row: Callable[[str], RunRow | None]
    goal: Callable[[str, Mapping[str, str]], str]  # of a metric, with what define_metric has said
    step_at: Callable[[str, float], int | None] = lambda run, moment: None  # the last that it had logged by then


NOTHING_KNOWN = Trainings(lambda directory: "", lambda run: None, lambda metric, goals: "max")


def progress(row: RunRow | None, made: bool, lost_for: float) -> str:
    """Of a recorded training. A run that was only made for the scores says nothing. Pure."""
    if row is None or made:
        return UNKNOWN
    if row.state in (FINISHED, FAILED, KILLED) or (row.state == LOST and lost_for >= LOST_SECONDS):
        return OVER
    return RUNNING


class Process(NamedTuple):
    pid: int
    start: str
    boot: str
    host: str
    attempt: int


def processes(home: Home, run_id: str) -> list[Process]:
    """The main processes of the last attempt, by what their journals say."""
    found = []
    for file in journal_files(home.run(run_id).journals):
        about = header(file.path, file.packed)
        if about.get("role") == "main" and about.get("pid") and about.get("start") and about.get("boot"):
            found.append(Process(about["pid"], about["start"], about["boot"], about["host"], about.get("attempt") or 1))
    last = max((process.attempt for process in found), default=0)
    return [process for process in found if process.attempt == last]


def send(process: Process, number: signal.Signals) -> str:
    """ "" when that very process got the signal, else why not. A descriptor holds on to the process while it is
    identified: a pid alone may be another one's by now."""
    if process.host != socket.gethostname():
        return f"it runs on {process.host}"
    if process.boot != boot_id():
        return "its machine was started again"
    try:
        descriptor = os.pidfd_open(process.pid)
    except ProcessLookupError:
        return "it has ended"
    except OSError as error:
        return f"it cannot be reached ({error.strerror})"
    try:
        if not exists(process.pid, process.start):
            return "it has ended"
        signal.pidfd_send_signal(descriptor, number)
    except OSError as error:
        return f"it cannot be signalled ({error.strerror})"
    finally:
        os.close(descriptor)
    return ""


def leave_file(path: str, why: str) -> str:
    """ "" when the stop file is there now, else why not. One that is there is left as it is."""
    try:
        files.write_once(Path(path), wire.text(why).encode() + b"\n")
    except OSError as error:
        return f"{path} cannot be written ({error.strerror})"
    return ""


class Progress:
    """Whether the trainings of a watched directory are over."""

    def __init__(self, root: str, done_file: str, trainings: Trainings) -> None:
        self._root, self._done_file, self._trainings = root, done_file, trainings
        self._lost: dict[str, float] = {}  # since when each run is seen to be lost
        self._over_before: dict[str, bool] = {}  # whether each run was over when we saw it first
        self._began = time.monotonic()

    def of(self, series: Sequence[str], run_of: Callable[[str], str]) -> str:
        """Over when none runs and at least one is. An unrecorded one says it by the done file only."""
        if self._has_done_file(self._root):
            return OVER
        found = {self._of_one(one, run_of(one)) for one in dict.fromkeys(series or [self._root])}
        return RUNNING if RUNNING in found else OVER if OVER in found else UNKNOWN

    def _of_one(self, series: str, known: str) -> str:
        if self._has_done_file(series):
            return OVER
        run = self._trainings.find(series) or known
        row = self._trainings.row(run) if run else None
        now = time.monotonic()
        if row is None or row.state != LOST:
            self._lost.pop(run, None)
        lost_for = now - self._lost.setdefault(run, now) if row is not None and row.state == LOST else 0.0
        state = progress(row, bool(run) and is_made(run), lost_for)
        was_over = self._over_before.setdefault(run, state == OVER)
        if state == OVER and was_over and now - self._began < GRACE_SECONDS:
            return RUNNING
        return state

    def _has_done_file(self, directory: str) -> bool:
        if not self._done_file:
            return False
        path = os.path.join(directory, os.path.expanduser(self._done_file))
        return any(entry.name == os.path.basename(path) for entry in files.entries(os.path.dirname(path)))

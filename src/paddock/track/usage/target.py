"""Where this process's samples go: to its run's journal; in a process that a tracked one has started and that has said
nothing itself so far, to a journal of their own in that run."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Any, Protocol

from paddock.errors import PaddockError
from paddock.record.journal import Journal, writer_name
from paddock.record.layout import Home, RunDirectory
from paddock.record.process import boot_id, start_ticks
from paddock.track import active
from paddock.track.capture.launch import rank_of
from paddock.track.identity import ATTEMPT, RUN_HOME, RUN_ID, RUN_OWNER
from paddock.track.run import Run

MARKED = ".usage-"  # and the attempt: somebody of the run has made a checkpoint


class Target(Protocol):
    marker: str

    def append(self, records: list[dict[str, Any]]) -> None: ...


class OfRun:
    def __init__(self, run: Run) -> None:
        self._run = run
        self.marker = f"{run.path}/{MARKED}{run.attempt}"

    def append(self, records: list[dict[str, Any]]) -> None:
        self._run._own()  # in a forked child: its own journal, and that one's lock
        with self._run._lock:
            if not self._run._closed:  # nothing comes behind a run's last record
                for record in records:
                    self._run._append(record)


class Beside:
    """Without becoming a part of the run otherwise: the process may yet begin one of its own."""

    def __init__(self, directory: RunDirectory, attempt: int) -> None:
        self._directory, self._attempt, self._pid = directory, attempt, os.getpid()
        self.marker = f"{directory.path}/{MARKED}{attempt}"
        self._journal: Journal | None = None

    def append(self, records: list[dict[str, Any]]) -> None:
        if not records:
            return
        if self._journal is None or self._pid != os.getpid():
            self._pid, self._journal = os.getpid(), self._open()
        for record in records:
            self._journal.append_now(dict(record))

    def _open(self) -> Journal:
        ranked, writer = rank_of(os.environ), writer_name()
        facts = {
            "run": self._directory.id,
            "writer": writer,
            "role": "child",
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "start": start_ticks(os.getpid()),
            "boot": boot_id(),
            "rank": ranked.rank if ranked else None,
            "world": ranked.world if ranked else None,
            "attempt": self._attempt,
        }
        return Journal(self._directory.journals / f"{writer}.jsonl", facts, pending_bytes=1 << 20)


_beside: Beside | None = None


def target() -> Target | None:
    """None while there is no run to write to."""
    global _beside
    run = active.current()
    if run is not None:
        return None if run.disabled or run._closed else OfRun(run)
    if _beside is None and is_child():
        home, attempt = os.environ.get(RUN_HOME, ""), os.environ.get(ATTEMPT, "")
        try:
            directory = Home(Path(home)).run(os.environ[RUN_ID])
        except PaddockError:
            return None
        if home and directory.journals.is_dir():
            _beside = Beside(directory, int(attempt) if attempt.isdigit() else 1)
    return _beside


def is_child() -> bool:
    """Whether another process, that is tracked, has started this one."""
    owner = os.environ.get(RUN_OWNER)
    return bool(os.environ.get(RUN_ID) and owner and owner != f"{socket.gethostname()}:{os.getpid()}")

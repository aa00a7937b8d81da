"""What init() takes down about code, environment and host, while the run begins."""

from __future__ import annotations

import os
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

from paddock.record.layout import Home
from paddock.record.worktree.pace import Pace
from paddock.record.worktree.snapshot import snapshot
from paddock.settings import Settings
from paddock.track.capture import environment, host, launch
from paddock.track.capture.config import hydra_overrides
from paddock.track.script import started

if TYPE_CHECKING:
    from paddock.track.run import Run

FINISH_SECONDS = 30.0  # that reading the code may take before init() goes on or after finish() was called
BESIDE_SECONDS = 600.0  # and beside the training


class Capture:
    """The code is read in a thread, because a large tree on a slow disk takes longer than a start may."""

    def __init__(self, home: Home, settings: Settings, *, with_code: bool) -> None:
        self._settings = settings
        self._code: dict[str, Any] | None = None
        self._done = threading.Event()
        self._pace = Pace(time.monotonic() + FINISH_SECONDS)
        self._lock = threading.Lock()
        self._run: Run | None = None
        self._claimed = self._told = False  # somebody is about to tell the run; it has been told
        self._capturing = with_code and settings.capture_code
        if self._capturing:
            script, here = started.script(), started.directory()

            def take() -> None:
                self._code = snapshot(home, script, here, settings, self._pace)
                self._done.set()
                self._tell()

            threading.Thread(target=take, name="paddock-code", daemon=True).start()

    def facts(self, seconds: float) -> dict[str, Any]:
        """For run.json; without the code when that is not ready after so many seconds."""
        found: dict[str, Any] = {
            "command": environment.redact_argv(started.command()),
            "cwd": str(started.directory()),
            **self.surroundings(),
        }
        if self._capturing and self._done.wait(seconds):
            found["code"], self._told = self._code, True
        return found

    def surroundings(self) -> dict[str, Any]:
        """Where it runs, which another attempt, or who submitted it, may not know."""
        found: dict[str, Any] = {
            "executable": sys.executable,
            "launch": launch.facts(os.environ),
            "host": host.facts(),
        }
        if self._settings.capture_environment:
            found["environment"] = environment.facts(os.environ)
        hydra = hydra_overrides(started.directory())
        if hydra:
            found["hydra"] = hydra
        return found

    def attach(self, run: Run, wrote_facts: bool) -> None:
        """Tell the run of code that run.json does not have: it came too late, another rank wrote that file, or this
        is a later attempt."""
        if not self._capturing or (wrote_facts and self._told):
            return
        with self._lock:
            self._run, self._told = run, False
        if not self._done.is_set():
            self._pace.ease(BESIDE_SECONDS)
        self._tell()
        run._at_finish.append(self._tell_at_last)

    def _tell(self) -> None:
        """As soon as both are there: a run that is killed later has its code."""
        with self._lock:
            if self._claimed or self._run is None or not self._done.is_set():
                return
            self._claimed = True
        self._run._append({"k": "code", "code": self._code})
        self._told = True

    def _tell_at_last(self) -> None:
        """The run's lock is held here, so the thread may be waiting for it with its record: then that is written here,
        and its own comes too late."""
        with self._lock:
            self._claimed = True
        self._pace.hurry(FINISH_SECONDS)
        if self._done.wait(FINISH_SECONDS + 1) and not self._told and self._run is not None:
            self._run._append({"k": "code", "code": self._code})
            self._told = True

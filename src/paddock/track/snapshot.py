"""What init() takes down about code, environment and host, while the run begins."""

from __future__ import annotations

import os
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

from paddock.record.layout import Home
from paddock.record.worktree.snapshot import snapshot
from paddock.settings import Settings
from paddock.track import started
from paddock.track.capture import environment, host, launch
from paddock.track.capture.config import hydra_overrides

if TYPE_CHECKING:
    from paddock.track.run import Run

FINISH_SECONDS = 30.0  # the code capture gives up after this, so finish() waits no longer either


class Capture:
    """The code is read in a thread, because a large tree on a slow disk takes longer than a start may."""

    def __init__(self, home: Home, settings: Settings, *, with_code: bool) -> None:
        self._code: dict[str, Any] | None = None
        self._told = False
        self._settings = settings
        self._thread: threading.Thread | None = None
        if with_code and settings.capture_code:
            script, here = started.script(), started.directory()

            def take() -> None:
                self._code = snapshot(home, script, here, settings, time.monotonic() + FINISH_SECONDS)

            self._thread = threading.Thread(target=take, name="paddock-code", daemon=True)
            self._thread.start()

    def facts(self, seconds: float) -> dict[str, Any]:
        """For run.json; without the code when that is not ready after so many seconds."""
        found: dict[str, Any] = {
            "command": environment.redact_argv(started.command()),
            "executable": sys.executable,
            "cwd": str(started.directory()),
            "launch": launch.facts(os.environ),
            "host": host.facts(),
        }
        if self._settings.capture_environment:
            found["environment"] = environment.facts(os.environ)
        hydra = hydra_overrides(started.directory())
        if hydra:
            found["hydra"] = hydra
        if self._thread:
            self._thread.join(seconds)
            if self._code is not None:
                found["code"], self._told = self._code, True
        return found

    def attach(self, run: Run, wrote_facts: bool) -> None:
        """Tell the run of code that run.json does not have: it came too late, another rank wrote that file, or this
        is a later attempt."""
        if self._thread and not (wrote_facts and self._told):

            def tell() -> None:
                if self._thread:
                    self._thread.join(FINISH_SECONDS)
                if self._code is not None:
                    run._append({"k": "code", "code": self._code})

            run._at_finish.append(tell)

"""What init() takes down about code, environment and host, while the run begins."""

from __future__ import annotations

import os
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paddock.record.layout import Home
from paddock.settings import Settings
from paddock.track.capture import code, environment, host, launch
from paddock.track.capture.config import hydra_overrides

if TYPE_CHECKING:
    from paddock.track.run import Run

FINISH_SECONDS = 30.0  # the code capture gives up after this, so finish() waits no longer either


class Capture:
    """The code is read in a thread, because a large tree on a slow disk takes longer than a start may."""

    def __init__(self, home: Home, settings: Settings) -> None:
        self._code: dict[str, Any] | None = None
        self._told = False
        self._settings = settings
        self._thread: threading.Thread | None = None
        if settings.capture_code:
            script, here = _script(), _here()

            def take() -> None:
                self._code = code.snapshot(home, script, here, settings, time.monotonic() + FINISH_SECONDS)

            self._thread = threading.Thread(target=take, name="paddock-code", daemon=True)
            self._thread.start()

    def facts(self, seconds: float) -> dict[str, Any]:
        """For run.json; without the code when that is not ready after so many seconds."""
        found: dict[str, Any] = {
            "command": environment.redact_argv(_command()),
            "executable": sys.executable,
            "cwd": str(_here()),
            "launch": launch.facts(os.environ),
            "host": host.facts(),
        }
        if self._settings.capture_environment:
            found["environment"] = environment.facts(os.environ)
        hydra = hydra_overrides(_here())
        if hydra:
            found["hydra"] = hydra
        if self._thread:
            self._thread.join(seconds)
            if self._code is not None:
                found["code"], self._told = self._code, True
        return found

    def attach(self, run: Run, known: bool) -> None:
        """Tell the run of code that came too late for run.json, or that a later attempt runs with."""
        if self._thread and not (known and self._told):

            def tell() -> None:
                if self._thread:
                    self._thread.join(FINISH_SECONDS)
                if self._code is not None:
                    run._append({"k": "code", "code": self._code})

            run._at_finish.append(tell)


def _command() -> list[str]:
    """As it was typed: sys.orig_argv knows `python -m module` where sys.argv does not."""
    return list(sys.orig_argv) or list(sys.argv)


def _here() -> Path:
    try:
        return Path.cwd()
    except OSError:
        return Path("/")


def _script() -> Path | None:
    """The file that was started, if it was a file."""
    path = os.environ.get("PADDOCK_SCRIPT") or getattr(sys.modules.get("__main__"), "__file__", None)
    return Path(os.path.abspath(path)) if path else None

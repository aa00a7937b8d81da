"""Checks: shell commands that must succeed before a task may start. They run beside the work, never in its way."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from typing import NamedTuple

FIRST_SECONDS, MOST_SECONDS = 1.0, 30.0  # how long a failed check rests before it is tried again
TIMEOUT_SECONDS = 60.0
AT_ONCE = 4


class Running(NamedTuple):
    process: subprocess.Popen[bytes]
    since: float


class Result(NamedTuple):
    passed: bool
    at: float
    rest: float


class Checks:
    """By the text of the check: a thousand tasks that wait for the same thing are one check."""

    def __init__(self) -> None:
        self._running: dict[str, Running] = {}
        self._results: dict[str, Result] = {}

    def passed(self, text: str, directory: str) -> bool:
        """Whether the check succeeded just now. When nobody knows, it is started, and the answer is no for now."""
        self._collect()
        key = f"{directory}\0{text}"
        now = time.monotonic()
        known = self._results.get(key)
        if known is not None and now - known.at < known.rest:
            return known.passed
        if known is not None and known.passed:
            del self._results[key]
        if key not in self._running and len(self._running) < AT_ONCE:
            self._running[key] = Running(_start(text, directory), now)
        return False

    @property
    def busy(self) -> bool:
        return bool(self._running)

    @property
    def pids(self) -> set[int]:
        return {running.process.pid for running in self._running.values()}

    def _collect(self) -> None:
        now = time.monotonic()
        for key, running in list(self._running.items()):
            code = running.process.poll()
            if code is None and now - running.since > TIMEOUT_SECONDS:
                _kill(running.process)
                code = -signal.SIGKILL
            if code is not None:
                del self._running[key]
                before = self._results.get(key)
                rest = FIRST_SECONDS if code == 0 or before is None else min(before.rest * 2, MOST_SECONDS)
                self._results[key] = Result(code == 0, now, rest)

    def close(self) -> None:
        for running in self._running.values():
            _kill(running.process)
        self._running.clear()


def _start(text: str, directory: str) -> subprocess.Popen[bytes]:
    cwd = directory if os.path.isdir(directory) else None  # roach's checks run where the worker was started
    return subprocess.Popen(
        ["/bin/sh", "-c", text],
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def _kill(process: subprocess.Popen[bytes]) -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()

"""Signals become something to read: a handler that did the work itself would do it in the middle of something else."""

from __future__ import annotations

import contextlib
import os
import signal
from types import FrameType

from paddock.record.process import is_nohup

# Slurm announces a preemption or the end of the walltime with TERM, or with the USR signal that the job asked for.
STOPPING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)


class Signals:
    """Catches what asks a worker to stop, from here until `restore`."""

    def __init__(self) -> None:
        self.count = 0  # how often we were asked
        self.fd, self._write = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        self._before = {n: signal.signal(n, self._caught) for n in STOPPING if not is_nohup(n)}

    def _caught(self, number: int, frame: FrameType | None) -> None:
        self.count += 1
        with contextlib.suppress(BlockingIOError):  # full: then there is enough to read
            os.write(self._write, bytes([number]))

    def read(self) -> list[str]:
        """The names of those that came since the last call, such as TERM."""
        try:
            numbers = os.read(self.fd, 4096)
        except BlockingIOError:
            return []
        return [signal.Signals(number).name.removeprefix("SIG") for number in numbers]

    def restore(self) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        os.close(self.fd)
        os.close(self._write)

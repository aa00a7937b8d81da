"""A worker's file: that it lives, what it did, and the switch that stops it (`rm` it).

    beat 0000000042
    host: node17
    pid: 31245
    ...
    2026-11-15 23:47:27 running 20261115-234727-123456-k3f9

The counter in the first line is rewritten in place. Whether the worker lives is judged by others on their own clock,
since they last saw the counter change; no two hosts' clocks are ever compared. On the same host the process itself is
looked for, so a killed worker is known at once.
"""

from __future__ import annotations

import os
import re
import socket
import time
from pathlib import Path
from typing import NamedTuple

from paddock import files
from paddock.record.process import boot_id, exists, start_ticks

_HEAD_BYTES = 4096


class Identity(NamedTuple):
    """What a worker's file says of it."""

    worker: str
    beat: int
    host: str
    pid: int
    start: str
    boot: str
    gpus: str = ""
    slots: int = 1


class Lease:
    """Held by the worker itself."""

    def __init__(self, directory: Path, worker: str, gpus: str = "", slots: int = 1) -> None:
        self.path = directory / worker
        self.beats = 0
        flags = os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC
        self._fd = os.open(self.path, flags, 0o644)
        head = (
            f"{_beat_line(0)}host: {socket.gethostname()}\npid: {os.getpid()}\nstart: {start_ticks(os.getpid())}\n"
            f"boot: {boot_id()}\ngpus: {gpus}\nslots: {slots}\n\n"
        )
        files.write_all(self._fd, head.encode())
        os.fsync(self._fd)

    def renew(self) -> bool:
        """Show that we live; True when the disk took it. The file's name is looked for in a listing: False for
        `is_wanted` when a person removed it."""
        self.beats += 1
        try:
            os.pwrite(self._fd, _beat_line(self.beats).encode(), 0)
            os.fdatasync(self._fd)
        except OSError:
            return False
        return True

    def is_wanted(self) -> bool:
        """Nobody has removed the file. A directory that cannot be listed says nothing."""
        try:
            return self.path.name in os.listdir(self.path.parent)
        except OSError:
            return True

    def log(self, text: str) -> None:
        line = f"{time.strftime('%Y-%m-%d %H:%M:%S')} {text}\n".encode("utf-8", "replace")
        try:
            os.lseek(self._fd, 0, os.SEEK_END)
            files.write_all(self._fd, line)
        except OSError:
            pass  # a log line is not worth a task

    def drop(self) -> None:
        os.close(self._fd)
        self.path.unlink(missing_ok=True)


def _beat_line(number: int) -> str:
    return f"beat {number:010d}\n"


def worker_name(gpus: str = "") -> str:
    """Host, pid and GPUs can be read off it; the end makes it unique for ever."""
    host = re.sub(r"[^A-Za-z0-9]+", "-", socket.gethostname().split(".")[0])[:40].strip("-") or "host"
    devices = re.sub(r"[^A-Za-z0-9]+", "-", gpus).strip("-")[:40]
    return f"{host}-{os.getpid()}-" + (f"g{devices}-" if devices else "") + os.urandom(3).hex()


def read_identity(path: Path) -> Identity | None:
    """None when there is no such worker, or its file is being written."""
    try:
        text = files.read_from(path, 0, _HEAD_BYTES).decode("utf-8", "replace")
    except OSError:
        return None
    found = dict(line.partition(": ")[::2] for line in text.partition("\n\n")[0].splitlines()[1:])
    match = re.match(r"beat (\d{10})\n", text)
    if match is None or not found.get("pid", "").isdigit():
        return None
    slots = found.get("slots", "1")
    return Identity(
        path.name,
        int(match[1]),
        found.get("host", ""),
        int(found["pid"]),
        found.get("start", ""),
        found.get("boot", ""),
        found.get("gpus", ""),
        int(slots) if slots.isdigit() else 1,
    )


class Watch:
    """What one observer knows of the workers of a queue, by its own clock."""

    def __init__(self, directory: Path, reclaim: float) -> None:
        self._directory, self._reclaim = directory, reclaim
        self._changed: dict[str, tuple[int, float]] = {}  # worker -> beat, and when we saw it become that
        self._host, self._boot = socket.gethostname(), boot_id()

    def is_dead(self, worker: str) -> bool:
        identity = read_identity(self._directory / worker)
        if identity is not None and identity.host == self._host and self._boot and identity.boot:
            if identity.boot != self._boot:
                return True
            if not exists(identity.pid, identity.start):
                return True
        now = _clock()
        beat = identity.beat if identity is not None else -1
        known = self._changed.get(worker)
        if known is None or known[0] != beat:
            self._changed[worker] = (beat, now)
            return False
        return now - known[1] > self._reclaim

    def silence(self, worker: str) -> float:
        """For how long we have seen no sign of it."""
        known = self._changed.get(worker)
        return _clock() - known[1] if known else 0.0


def _clock() -> float:
    """Seconds that go on while the machine sleeps."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()

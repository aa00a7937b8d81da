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

import contextlib
import os
import re
import socket
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from paddock import files
from paddock.record.process import Place, Process, boot_id, machine_id, pid_space, place, start_ticks

_HEAD_BYTES = 4096
_BLIND_SECONDS = 60.0  # who has not looked for so long, on a disk that hung, has learnt nothing by it


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
    machine: str = ""  # two machines may have one name, such as "localhost"
    space: str = ""  # the pid namespace: in another one a pid says nothing
    guard: str = ""  # pid and start time of the process that ends the tasks when the worker is gone
    cpus: int = 0  # cores that it gives out; 0 is not known
    mem: int = 0  # bytes

    def is_here(self) -> bool:
        """On this machine, in this boot and among these pids: its process can be looked for and signalled."""
        return self.process.is_here()

    @property
    def process(self) -> Process:
        return Process(Place(self.host, self.machine, self.boot, self.space), self.pid, self.start)


class Lease:
    """Held by the worker itself."""

    def __init__(
        self,
        directory: Path,
        worker: str,
        gpus: str = "",
        slots: int = 1,
        guard: int = 0,
        cpus: int | None = None,
        mem: int | None = None,
    ) -> None:
        self.path = directory / worker
        self.beats = 0
        self._head = (
            f"{_beat_line(0)}host: {socket.gethostname()}\npid: {os.getpid()}\nstart: {start_ticks(os.getpid())}\n"
            f"boot: {boot_id()}\ngpus: {gpus}\nslots: {slots}\ncpus: {cpus or 0}\nmem: {mem or 0}\n"
            f"machine: {machine_id()}\nspace: {pid_space()}\n"
        )
        if guard:
            self._head += f"guard: {guard} {start_ticks(guard)}\n"
        self._fd = self._create(f"{self._head}\n".encode())

    def _create(self, data: bytes) -> int:
        descriptor = os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o644)
        try:
            files.write_all(descriptor, data)
            os.fsync(descriptor)
        except OSError:
            os.close(descriptor)
            with contextlib.suppress(OSError):
                os.unlink(self.path)
            raise
        return descriptor

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

    def put_back(self) -> bool:
        """Show again that we live, after somebody has removed the file: while we have tasks, others must not take them.
        False when that cannot be shown."""
        try:
            data = os.pread(self._fd, os.fstat(self._fd).st_size, 0)
        except OSError:  # NFS forgets what was removed from elsewhere
            data = f"{_beat_line(self.beats)}{self._head[len(_beat_line(0)) :]}\n".encode()
        try:
            fresh = self._create(data)
        except OSError:  # it is there again, or the disk refuses: then the guard ends the tasks in time
            return False
        os.close(self._fd)
        self._fd = fresh
        return True

    def log(self, *texts: str) -> None:
        now = time.strftime("%Y-%m-%d %H:%M:%S")
        lines = "".join(f"{now} {text}\n" for text in texts).encode("utf-8", "replace")
        try:
            os.lseek(self._fd, 0, os.SEEK_END)
            files.write_all(self._fd, lines)
        except OSError:
            pass  # a log line is not worth a task

    def drop(self, *, leave: bool = False) -> None:
        """`leave` it when a task could not be given back: that its worker is dead must be seen from something."""
        os.close(self._fd)
        if not leave:
            with contextlib.suppress(OSError):
                self.path.unlink()


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
    return Identity(
        path.name,
        int(match[1]),
        found.get("host", ""),
        int(found["pid"]),
        found.get("start", ""),
        found.get("boot", ""),
        found.get("gpus", ""),
        _count(found, "slots", 1),
        found.get("machine", ""),
        found.get("space", ""),
        found.get("guard", ""),
        _count(found, "cpus", 0),
        _count(found, "mem", 0),
    )


def _count(found: Mapping[str, str], key: str, default: int) -> int:
    text = found.get(key, "")
    return int(text) if text.isdigit() else default


class Seen(NamedTuple):
    beat: int
    since: float  # when we saw it become that
    looked: float  # when we saw it last


class Watch:
    """What one observer knows of the workers of a queue, by its own clock."""

    def __init__(self, directory: Path, reclaim: float) -> None:
        self._directory, self._reclaim = directory, reclaim
        self._seen: dict[str, Seen] = {}  # by worker
        self._beating: set[str] = set()  # whose beat we have seen change
        self._here = place()

    def is_dead(self, worker: str) -> bool:
        now = _clock()  # before the reading: whoever is stopped between the two must not see an old beat as a late one
        identity = read_identity(self._directory / worker)
        if identity is not None and self.is_gone(identity):
            return True
        beat = identity.beat if identity is not None else -1
        known = self._seen.get(worker)
        if known is None or known.beat != beat:
            if known is not None and beat >= 0:
                self._beating.add(worker)
            known = Seen(beat, now, now)
        elif now - known.looked > _BLIND_SECONDS:  # the disk may have hung for that worker, too
            known = Seen(beat, now, now)
        self._seen[worker] = known._replace(looked=now)
        return now - known.since > self._reclaim

    def is_alive(self, worker: str) -> bool:
        """Whether we have seen it show that it lives. False says nothing."""
        return worker in self._beating and not self.is_dead(worker)

    def may_be_dead(self, worker: str) -> bool:
        """Whether who waits for its death may be waiting for something: it is no process of this machine that is there,
        and has shown no sign of life yet."""
        identity = read_identity(self._directory / worker)
        return not (identity is not None and self.is_there(identity)) and not self.is_alive(worker)

    def is_there(self, found: Identity) -> bool:
        """Whether it is a process of this machine that has not ended."""
        return found.process.is_here(self._here) and not found.process.is_gone(self._here)

    def is_gone(self, found: Identity) -> bool:
        """Whether a worker of this machine has ended, and its guard too: until then its tasks are being ended."""
        process = found.process
        pid, _, start = found.guard.partition(" ")
        guard = process._replace(pid=int(pid), start=start) if pid.isdigit() else process
        return process.is_gone(self._here) and guard.is_gone(self._here)

    def silence(self, worker: str) -> float:
        """For how long we have seen no sign of it."""
        known = self._seen.get(worker)
        return _clock() - known.since if known else 0.0


def _clock() -> float:
    """Seconds that go on while the machine sleeps."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()


def server_time(directory: Path) -> float:
    """What time it is for the files there; our own clock where we may not write."""
    probe = directory / f".time.{os.urandom(4).hex()}"
    try:
        os.close(os.open(probe, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600))
    except OSError:
        return time.time()
    try:
        return os.stat(probe).st_mtime
    finally:
        probe.unlink(missing_ok=True)

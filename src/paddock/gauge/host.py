"""What a host uses: processors, memory, load, disk, GPUs."""

from __future__ import annotations

import os
import socket
import time
from pathlib import Path
from typing import Any

from paddock.gauge.gpus import GpuMeter

LEAST_SECONDS = 0.1  # between two looks at the processors
_IDLE = slice(3, 5)  # idle and waiting for disks, among the fields of the first line of /proc/stat


class ProcessorMeter:
    def __init__(self) -> None:
        self._times, self._at = _processor_times(), time.monotonic()
        self._busy: float | None = None  # as it was said last

    def read(self) -> float | None:
        """Per cent of the whole machine since the last look, over some ticks of the kernel's clock: who looks right
        after the beginning waits for them, and who looks twice in a row gets the same answer twice."""
        if self._busy is None:
            time.sleep(max(0.0, self._at + LEAST_SECONDS - time.monotonic()))
        elif time.monotonic() - self._at < LEAST_SECONDS:
            return self._busy
        before, self._times, self._at = self._times, _processor_times(), time.monotonic()
        if before is None or self._times is None:
            return None
        idle, total = self._times[0] - before[0], self._times[1] - before[1]
        self._busy = round(100 * (1 - idle / total), 1) if total > 0 else self._busy
        return self._busy


class HostMeter:
    def __init__(self, disk: Path, every: float = 10.0) -> None:
        """`disk`: a directory on the disk to tell of."""
        self._disk, self._gpus = disk, GpuMeter(every)
        self._processors = ProcessorMeter()

    def read(self) -> dict[str, Any]:
        """Sizes in bytes, `cpu` in per cent of the whole machine since the last look; what the system does not say is
        None."""
        return {
            "host": socket.gethostname(),
            "cpus": os.cpu_count() or 1,
            "cpu": self._processors.read(),
            "load": _load(),
            **memory(),
            **_disk(self._disk),
            "uptime": _uptime(),
            "gpus": self._devices(),
        }

    def _devices(self) -> list[dict[str, Any]]:
        found = self._gpus.look()
        return [device._asdict() for device in found.devices] if found is not None else []


def _processor_times() -> tuple[int, int] | None:
    """(idle, all) in ticks since boot."""
    try:
        with open("/proc/stat", "rb") as file:
            values = [int(word) for word in file.readline().split()[1:9]]
    except (OSError, ValueError):
        return None
    return (sum(values[_IDLE]), sum(values)) if len(values) >= 5 else None


def _load() -> float | None:
    try:
        return round(os.getloadavg()[0], 2)
    except OSError:
        return None


def memory() -> dict[str, int | None]:
    found: dict[str, int] = {}
    try:
        with open("/proc/meminfo", "rb") as file:
            for line in file:
                name, _, rest = line.partition(b":")
                if name in (b"MemTotal", b"MemAvailable"):
                    found[name.decode()] = int(rest.split()[0]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    total, available = found.get("MemTotal"), found.get("MemAvailable")
    used = total - available if total is not None and available is not None else None
    return {"memory": used, "memory_total": total}


def _disk(path: Path) -> dict[str, int | None]:
    try:
        about = os.statvfs(path)
    except OSError:
        return {"disk": None, "disk_total": None}
    total, free = about.f_blocks * about.f_frsize, about.f_bavail * about.f_frsize
    return {"disk": total - about.f_bfree * about.f_frsize, "disk_total": total, "disk_free": free}


def _uptime() -> float | None:
    try:
        return round(time.clock_gettime(time.CLOCK_BOOTTIME), 1)
    except (AttributeError, OSError):
        return None

"""The machine, read from /proc and /sys: no subprocess, and an empty answer where there is none."""

from __future__ import annotations

import os
import platform
import socket
from pathlib import Path
from typing import Any


def facts() -> dict[str, Any]:
    """run.json's `host`."""
    found: dict[str, Any] = {"name": "", "os": "", "kernel": "", "machine": "", "cpus": 0, "cpu": "", "memory": None}
    found |= {"memory_limit": None, "gpus": [], "cuda_visible_devices": os.environ.get("CUDA_VISIBLE_DEVICES")}
    readers = {
        "name": socket.gethostname,
        "os": _system,
        "kernel": platform.release,
        "machine": platform.machine,
        "cpus": _cpus,
        "cpu": _cpu_model,
        "memory": _memory,
        "memory_limit": _memory_limit,
        "gpus": _gpus,
    }
    for name, reader in readers.items():
        try:
            found[name] = reader()
        except Exception:  # one odd machine must not cost the other facts
            continue
    return found


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(65536)
    except (OSError, ValueError):
        return ""


def _system() -> str:
    for line in _read("/etc/os-release").splitlines():
        if line.startswith("PRETTY_NAME="):
            return line.partition("=")[2].strip().strip("\"'")
    return platform.system()


def _cpus() -> int:
    """Those that this process may use, which under Slurm and in containers are fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 0


def _cpu_model() -> str:
    for line in _read("/proc/cpuinfo").splitlines():
        key, _, value = line.partition(":")
        if key.strip() in ("model name", "Model", "cpu model"):
            return value.strip()
    return ""


def _memory() -> int | None:
    for line in _read("/proc/meminfo").splitlines():
        if line.startswith("MemTotal:"):
            return int(line.split()[1]) * 1024
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError):
        return None


def _memory_limit() -> int | None:
    """The tightest limit of this process's cgroup and those above it; None when there is none."""
    limits: list[str] = []
    for line in _read("/proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers and "memory" not in controllers.split(","):
            continue
        base, name = ("/sys/fs/cgroup", "memory.max") if not controllers else _OLD_CGROUP
        place = Path(path)
        limits += [_read(f"{base}{folder}/{name}").strip() for folder in (place, *place.parents)]
    known = [int(limit) for limit in limits if limit.isdigit() and int(limit) < 1 << 60]
    return min(known, default=None)


_OLD_CGROUP = ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")


def _gpus() -> list[dict[str, str]]:
    """The NVIDIA devices that the driver shows; CUDA_VISIBLE_DEVICES says which of them the process uses."""
    found = []
    base = "/proc/driver/nvidia/gpus"
    for name in sorted(os.listdir(base)) if os.path.isdir(base) else ():
        values = {}
        for line in _read(f"{base}/{name}/information").splitlines():
            key, _, value = line.partition(":")
            values[key.strip()] = value.strip()
        found.append({"name": values.get("Model", ""), "uuid": values.get("GPU UUID", ""), "bus": name})
    return found

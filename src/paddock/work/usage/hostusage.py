"""What hosts use, as the workers on them tell it: <home>/hosts/<worker>.json, replaced every few seconds, one writer a
file. Of several on one host the newest counts; they share its clock."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path
from typing import Any, NamedTuple

from paddock import files, wire
from paddock.queue.crew import SILENT_SECONDS
from paddock.queue.lease import server_time
from paddock.record.layout import Home
from paddock.record.process import boot_id, machine_id

_FORGOTTEN = 24 * 3600.0  # seconds after which a dead worker's file is removed
_ENDING = ".json"


class HostFile:
    """Held by the process that samples the host."""

    def __init__(self, home: Home, writer: str) -> None:
        self._home, self._name = home, writer
        self._about = {"v": 1, "writer": writer, "pid": os.getpid(), "boot": boot_id(), "machine": machine_id()}

    def write(self, sample: dict[str, Any]) -> None:
        """Whole, or the old one stays. It is not brought to the disk: the next one comes in some seconds."""
        directory = self._home.hosts
        aside = f"{directory}/.{self._name}.tmp"
        data = wire.dumps({**self._about, "t": round(time.time(), 3), **sample})
        try:
            _put(aside, data)
        except FileNotFoundError:
            directory.mkdir(parents=True, exist_ok=True)
            _put(aside, data)
        os.replace(aside, f"{directory}/{self._name}{_ENDING}")

    def remove(self) -> None:
        with contextlib.suppress(OSError):
            os.unlink(f"{self._home.hosts}/{self._name}{_ENDING}")


def _put(path: str, data: bytes) -> None:
    descriptor = os.open(path, os.O_CREAT | os.O_TRUNC | os.O_WRONLY | os.O_CLOEXEC, 0o644)
    try:
        files.write_all(descriptor, data)
    finally:
        os.close(descriptor)


class Host(NamedTuple):
    name: str
    age: float  # seconds since the sample, by the clock of the files
    silent: bool  # for so long that it may be gone
    writers: int  # processes that tell of it
    sample: dict[str, Any]  # as the reference describes it


def hosts(home: Home) -> list[Host]:
    """The last sample of each host, by name."""
    found: dict[tuple[str, str], list[tuple[float, float, dict[str, Any]]]] = {}
    for path in _files(home):
        try:
            written, sample = os.stat(path).st_mtime, wire.loads(files.read_from(path, 0, 1 << 20))
        except (OSError, wire.DecodeError, UnicodeDecodeError):
            continue  # it is just being removed, or somebody's nonsense
        if isinstance(sample, dict) and isinstance(t := sample.get("t"), (int, float)):
            key = str(sample.get("host") or "?"), str(sample.get("machine") or "")
            found.setdefault(key, []).append((float(t), written, sample))
    if not found:
        return []
    now, several = server_time(home.hosts), []
    for (name, _), samples in sorted(found.items(), key=lambda item: item[0]):
        _, written, sample = max(samples, key=lambda one: one[0])
        age = max(0.0, now - written)
        several.append(Host(name, round(age, 1), age > SILENT_SECONDS, len(samples), sample))
    return several


def sweep(home: Home) -> None:
    """Remove the files of workers that were killed long ago."""
    old = [path for path in _files(home) if _is_old(path)]
    now = server_time(home.hosts) if old else 0.0
    for path in old:
        with contextlib.suppress(OSError):
            if now - os.stat(path).st_mtime > _FORGOTTEN:
                os.unlink(path)


def _files(home: Home) -> list[Path]:
    entries = files.entries(home.hosts)
    return sorted(Path(e.path) for e in entries if e.name.endswith(_ENDING) and not e.name.startswith("."))


def _is_old(path: Path) -> bool:
    try:
        return time.time() - path.stat().st_mtime > _FORGOTTEN / 2  # by our own clock; the file server's decides
    except OSError:
        return False

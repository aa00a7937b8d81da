"""What trees of processes use that know nothing of us, seen from outside. One look at the table of all processes serves
every tree. Only /proc/<pid>/stat is read: other files wait for a lock that a process stuck on a dead disk may hold."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import NamedTuple

_PAGE, _TICKS = os.sysconf("SC_PAGE_SIZE"), os.sysconf("SC_CLK_TCK")
COLUMNS = ("cpu", "rss", "threads", "processes")

Identity = tuple[int, int]  # pid and start time


class Entry(NamedTuple):
    pid: int
    start: int
    parent: int
    ticks: int  # of a processor, used so far
    buried: int  # the same of its children that have ended and were waited for
    threads: int
    rss: int  # bytes

    @property
    def identity(self) -> Identity:
        return self.pid, self.start


def table() -> dict[int, Entry]:
    """Every process that we may see and that is no zombie."""
    found = (_look(name) for name in os.listdir("/proc") if name.isdigit())
    return {entry.pid: entry for entry in found if entry is not None}


def trees(roots: Mapping[int, str], processes: Mapping[int, Entry]) -> dict[str, list[Entry]]:
    """By name, all processes at and below the roots. A root below another one counts to itself."""
    below: dict[int, list[Entry]] = {}
    for entry in processes.values():
        below.setdefault(entry.parent, []).append(entry)
    found: dict[str, list[Entry]] = {name: [] for name in roots.values()}
    for root, name in roots.items():
        waiting = [processes[root]] if root in processes else []
        while waiting:
            entry = waiting.pop()
            found[name].append(entry)
            waiting.extend(child for child in below.get(entry.pid, ()) if child.pid not in roots)
    return found


class TreeMeter:
    def __init__(self, began: float) -> None:
        """`began`: when the tree did, as time.monotonic() tells it."""
        self._at, self._total = began, 0
        self._ticks: dict[Identity, int] = {}

    def read(self, members: list[Entry]) -> list[float | int | None]:
        """The values of COLUMNS since the last look."""
        now = time.monotonic()
        passed = max(now - self._at, 1e-3)
        ticks = {entry.identity: entry.ticks for entry in members}
        total = sum(entry.ticks + entry.buried for entry in members)
        # What a child has used goes over to its parent when it is buried, so the total only grows; an orphan takes its
        # part away with it, and then at least those that were seen before tell what they have used since.
        used = max(total - self._total, sum(new - self._ticks.get(who, 0) for who, new in ticks.items()))
        self._at, self._total, self._ticks = now, total, ticks
        return [
            round(100 * used / _TICKS / passed, 1),
            sum(entry.rss for entry in members),
            sum(entry.threads for entry in members),
            len(members),
        ]


def _look(name: str) -> Entry | None:
    fields = _bytes(f"/proc/{name}/stat").rpartition(b")")[2].split()
    if len(fields) < 22 or fields[0] in (b"Z", b"X", b"x"):
        return None
    start, parent, user, system, gone_user, gone_system, threads, pages = map(
        int, [fields[i] for i in (19, 1, 11, 12, 13, 14, 17, 21)]
    )
    return Entry(int(name), start, parent, user + system, gone_user + gone_system, threads, pages * _PAGE)


def _bytes(path: str) -> bytes:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return os.read(descriptor, 4096)
    except OSError:  # it ended between the two calls
        return b""
    finally:
        os.close(descriptor)

"""What the index knows of one journal and of the process that wrote it."""

from __future__ import annotations

import math
from typing import Any, TypeGuard

import msgspec

from paddock import wire

MAIN, CHILD, SUPERVISOR, ANNOTATION = "main", "child", "supervisor", "annotation"


class Seen(msgspec.Struct):
    """One journal as far as it has been read. Kept packed in the index."""

    name: str
    # who writes, from its `open` record
    role: str = MAIN
    host: str = ""
    boot: str = ""
    pid: int = 0
    start: str = ""
    rank: int | None = None
    attempt: int = 1
    user: str = ""
    started: float = 0.0
    opened: bool = False  # the `open` record was read
    origin: str = ""  # the run that it was written for, where that is not the one it lies in: it is a copy
    birth: int = 0  # the inode that it was opened with; 0 when it does not say
    # how far it was read; offsets count unpacked bytes
    offset: int = 0
    size: int = 0  # of the file, when it was last looked at
    inode: int = 0
    packed: bool = False
    head: int = 0  # CRC-32 of the first HEAD_BYTES that were read
    checksum: int = 0  # CRC-32 of all bytes that were read
    whole: bool = False  # it was read to its end at that size
    refused: str = ""  # why it could not be read
    torn: int = 0  # bytes of an unfinished line behind them
    columns: dict[int, tuple[list[str], dict[str, Any]]] = {}
    undeclared: list[int] = []  # columns that rows were skipped for
    # what it said
    lines: int = 0
    rows: int = 0  # among them
    damaged: int = 0
    dropped: dict[str, int] = {}
    seen: float = 0.0  # its last sign of life, by its own clock
    oom: int = -1  # kernel's count of out-of-memory kills at that time
    end: dict[str, Any] | None = None
    exits: list[dict[str, Any]] = []
    # what we saw of its life, by our own clock
    changed: float = 0.0  # when we saw the file change
    clock: str = ""  # the boot id of the clock that `changed` was read from; "" before the first look
    stale: bool = False  # silent for long already when it was first seen
    missing: int = -1  # size of the file when its process was found gone
    missing_at: float = 0.0
    elsewhere: bool = False  # it grew although its process is not to be seen here: another pid namespace
    gone: bool = False  # it came from elsewhere, where its process was known to have ended
    suspect: bool = False  # the kernel killed something for memory around its death

    @property
    def in_place(self) -> bool:
        """It lies where its process opened it, as far as one can tell: a copy says nothing about that process."""
        return not self.origin and self.birth in (0, self.inode)

    @property
    def over(self) -> bool:
        """It said itself that nothing more will come."""
        return self.end is not None or (self.role == SUPERVISOR and bool(self.exits))


HEAD_BYTES = 256
unpack = wire.unpacker(Seen).decode


def note_open(seen: Seen, record: dict[str, Any], run_id: str) -> None:
    """Take over what an `open` record says; what has a wrong type there is as good as absent."""
    written_for = record.get("run")
    seen.origin = written_for if isinstance(written_for, str) and written_for != run_id else ""
    seen.birth = _whole(record.get("inode"), 0)
    role = record.get("role")
    seen.role = role if role in (MAIN, CHILD, SUPERVISOR, ANNOTATION) else MAIN
    seen.host, seen.boot = _text(record.get("host")), _text(record.get("boot"))
    seen.pid, seen.start = _whole(record.get("pid"), 0), _text(record.get("start"))
    seen.rank = rank if fits(rank := record.get("rank")) else None
    seen.attempt = max(1, _whole(record.get("attempt"), 1))
    seen.user = _text(record.get("user"))
    seen.started = moment(record)
    seen.oom = _whole(record.get("oom"), -1)
    seen.opened = True


def moment(record: dict[str, Any]) -> float:
    return seconds(record.get("t")) or 0.0


def seconds(value: Any) -> float | None:
    """A number of seconds, or None for anything else, also for a whole number that no float can hold."""
    try:
        found = float(value) if type(value) in (int, float) else math.nan
    except OverflowError:
        return None
    return found if math.isfinite(found) else None


def fits(value: Any) -> TypeGuard[int]:
    """Whether it is a whole number that the index can hold: JSON has larger ones."""
    return type(value) is int and -(2**63) <= value < 2**63


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)


def _whole(value: Any, otherwise: int) -> int:
    return value if fits(value) else otherwise

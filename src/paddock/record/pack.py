"""Packing the journals of ended processes: gzip, checked byte for byte before the plain file goes.

A packed journal is still read by everything (`journal_files` finds both), and `gunzip` gives back the very same bytes.
"""

from __future__ import annotations

import contextlib
import gzip
import os
import secrets
import socket
import time
import zlib
from pathlib import Path
from typing import Any, NamedTuple

from paddock import files, wire
from paddock.record import process
from paddock.record.scan import PACKED, PLAIN, JournalFile, journal_files

SETTLED_SECONDS = 60.0  # one of this host whose pid is gone; also how long an annotation rests
_LEVEL = 6  # 9 takes twice as long and saves one part in a hundred


class Packed(NamedTuple):
    journals: int
    before: int  # bytes
    after: int  # bytes


def pack_run(journals: Path, *, dry_run: bool = False) -> Packed:
    """Pack every journal of a run whose process is surely over. A dry run only counts what would be packed."""
    done, before, after = 0, 0, 0
    for file in journal_files(journals):
        if file.packed or not file.size or not is_over(file):
            continue
        size = file.size if dry_run else pack(Path(file.path))
        if size >= 0:
            done, before, after = done + 1, before + file.size, after + (0 if dry_run else size)
    return Packed(done, before, after)


def pack(path: Path) -> int:
    """Replace a plain journal by its packed form; returns its size, or -1 when the journal grew meanwhile."""
    data = path.read_bytes()
    facts = path.stat()
    target = path.with_name(path.name.removesuffix(PLAIN) + PACKED)
    # The name begins with a dot: no reader takes it for a journal, whatever happens to us now.
    aside = path.with_name(f".{target.name}.{secrets.token_hex(6)}.tmp")
    try:
        descriptor = os.open(aside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, facts.st_mode & 0o777)
        try:
            files.write_all(descriptor, gzip.compress(data, _LEVEL, mtime=0))
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        if not _same(aside, data):
            raise OSError(5, "What was packed does not read back the same", str(aside))
        os.utime(aside, ns=(facts.st_atime_ns, facts.st_mtime_ns))
        size = aside.stat().st_size
        os.rename(aside, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(aside)
        raise
    files.sync_directory(path.parent)
    # Both are there now, and readers take the plain one. Only when that has not grown is it given up.
    if path.stat().st_size != len(data):
        target.unlink()
        return -1
    path.unlink()
    files.sync_directory(path.parent)
    return size


def _same(path: Path, data: bytes) -> bool:
    try:
        with gzip.open(path, "rb") as file:
            return file.read() == data
    except (OSError, EOFError, zlib.error):
        return False


def is_over(file: JournalFile) -> bool:
    """Will this journal never grow again? Its process said so, or is gone from this host. One of another host that is
    silent may be stopped, and go on next week: only its own word counts."""
    quiet = time.time() - os.stat(file.path).st_mtime
    tail = files.read_from(file.path, max(0, file.size - 65_536))
    if not tail.endswith(b"\n"):
        return False  # half a line: somebody may be writing the rest
    last = wire.read_line(tail[:-1].rpartition(b"\n")[2])
    if isinstance(last, dict) and last.get("k") == "end":
        return True
    head = wire.read_line(files.read_from(file.path, 0, 65_536).partition(b"\n")[0])
    if not isinstance(head, dict) or quiet < SETTLED_SECONDS:
        return False
    return head.get("role") == "annotation" or gone_from_here(head)


def gone_from_here(head: dict[str, Any]) -> bool:
    boot, pid = process.boot_id(), head.get("pid")
    if not boot or not head.get("boot") or not isinstance(pid, int) or head.get("host") != socket.gethostname():
        return False
    # Another boot id: this host has started anew since.
    return head["boot"] != boot or not process.exists(pid, str(head.get("start") or ""))

"""What a run's directory has to send: files and how long they are, read by offset."""

from __future__ import annotations

import os
import stat
import struct
from collections.abc import Iterator
from typing import NamedTuple
from zlib import crc32

from paddock import files
from paddock.record.layout import Home
from paddock.record.scan import JournalFile, journal_files, read_journal
from paddock.track.ship import names

CHECKED_BYTES = 4096  # before a range, by which the server sees that it continues what it has
HEAD_BYTES = 256
_PIECE = 1 << 20


class Found(NamedTuple):
    path: str  # below the home, as the server knows it
    source: str
    size: int
    mtime: int = 0
    packed: bool = False


def streams(home: Home, run_id: str) -> Iterator[Found]:
    """What grows, journals first: they are what people look at."""
    base = f"{home.runs}/{run_id}"
    for folder in ("journal", "logs"):
        for file in journal_files(f"{base}/{folder}"):
            size = _unpacked_size(file.path) if file.packed else file.size
            yield Found(f"runs/{run_id}/{folder}/{file.writer}.jsonl", file.path, size, packed=file.packed)
    for entry in sorted(files.entries(f"{base}/output"), key=lambda entry: entry.name):
        if entry.name.endswith(".log") and not entry.name.startswith("."):
            try:
                found = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            if stat.S_ISREG(found.st_mode):
                yield Found(f"runs/{run_id}/output/{entry.name}", entry.path, found.st_size)


def wholes(home: Home, run_id: str) -> Iterator[Found]:
    """What the user saved. Links are not followed: what they lead to is not the run's."""
    base = f"{home.runs}/{run_id}"
    for folder, below, found in os.walk(f"{base}/files"):
        below.sort()
        for name in sorted(found):
            source = os.path.join(folder, name)
            path = f"runs/{run_id}/{os.path.relpath(source, base)}"
            try:
                about = os.lstat(source)
            except OSError:
                continue
            if stat.S_ISREG(about.st_mode):
                yield Found(path, source, about.st_size, about.st_mtime_ns)


def read(found: Found, at: int, size: int) -> tuple[tuple[int, int], bytes]:
    """A range, and the check of the bytes before it: (how many, their CRC-32)."""
    before = min(at, CHECKED_BYTES)
    if found.packed:
        data = read_journal(JournalFile("", found.source, 0, True), at - before, before + size)
    else:
        data = files.read_from(found.source, at - before, before + size)
    return (before, crc32(data[:before])), data[before:]


def head(found: Found, size: int) -> tuple[int, int]:
    """The checksum of its first bytes."""
    checksum, at = 0, 0
    while at < size:
        _, piece = read(found, at, min(_PIECE, size - at))
        if not piece:
            break
        checksum, at = crc32(piece, checksum), at + len(piece)
    return at, checksum


def _unpacked_size(path: str) -> int:
    """As gzip notes it in its last four bytes."""
    try:
        size = os.stat(path).st_size
        return int(struct.unpack("<I", files.read_from(path, size - 4))[0]) if size > 18 else 0
    except (OSError, struct.error):
        return 0


def can_be_sent(found: Found) -> bool:
    return names.place(names.encoded(found.path)) is not None

"""Whether a journal still begins with what was read from it."""

from __future__ import annotations

import gzip
import os
import zlib
from typing import BinaryIO, cast
from zlib import crc32

from paddock.catalog.writer import HEAD_BYTES, Seen
from paddock.files import open_regular
from paddock.record.scan import JournalFile


def opened(file: JournalFile) -> BinaryIO:
    if file.packed:
        return cast(BinaryIO, gzip.open(file.path, "rb"))
    return cast(BinaryIO, open_regular(file.path))


def begins(path: str, seen: Seen) -> bool:
    """Asks the open file for its size: a listing over NFS may be seconds old, and show less than was read."""
    try:
        with open_regular(path) as file:
            size, head = os.fstat(file.fileno()).st_size, file.read(min(HEAD_BYTES, seen.offset))
    except OSError:  # it cannot be asked now, so nothing is known against it
        return True
    return size >= seen.offset and crc32(head) == seen.head


def checksum(file: JournalFile, size: int) -> int | None:
    """Of the journal's first `size` bytes; None when it has fewer."""
    found, left = 0, size
    try:
        with opened(file) as stream:
            while left:
                piece = stream.read(min(left, 1 << 20))
                if not piece:
                    return None
                found = crc32(piece, found)
                left -= len(piece)
    except (OSError, EOFError, zlib.error):
        return None
    return found

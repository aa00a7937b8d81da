"""Index files whose home is gone: nobody will ever ask them again.

Beside each index lies a lock file that names the home and is touched whenever the index is opened. A home that is not
there may only be unmounted, so an index counts as abandoned after a month without use; should the home come back, the
index is rebuilt.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path
from time import time

from paddock import files
from paddock.catalog import place

UNUSED_SECONDS = 30 * 86_400.0
_PARTS = (".sqlite", ".sqlite-wal", ".sqlite-shm", ".lock")  # the lock last: it is what the others are found by


def indexes(cache: str = "") -> Iterator[Path]:
    """The lock files of all indexes that this user has, of whatever home."""
    wanted = place.cache_directory(cache)
    for directory in (wanted / "catalog" if wanted else None, place.private_directory()):
        if directory is not None:
            yield from (Path(entry.path) for entry in list(files.entries(directory)) if entry.name.endswith(".lock"))


def note_use(descriptor: int, home: Path) -> None:
    """Write down in an index's open lock file whose index it is, and when it was used."""
    text = os.fsencode(os.path.realpath(home)) + b"\n"
    with contextlib.suppress(OSError):
        if os.pread(descriptor, len(text) + 1, 0) != text:
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, text, 0)
        os.utime(descriptor)


def is_abandoned(lock: Path) -> bool:
    try:
        home = lock.read_bytes().rstrip(b"\n")  # nothing in an index of an earlier version
        used = max(part.stat().st_mtime for part in _parts(lock))
    except (OSError, ValueError):
        return False
    return time() - used > UNUSED_SECONDS and not (home and os.path.isdir(home))


def size(lock: Path) -> int:
    return sum(part.stat().st_size for part in _parts(lock))


def remove(lock: Path) -> int:
    """Remove an abandoned index unless somebody opens it just now; returns the bytes that came free."""
    try:
        descriptor = os.open(lock, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return 0
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        freed = size(lock) if is_abandoned(lock) else 0
        for part in _parts(lock) if freed else ():
            part.unlink(missing_ok=True)
        return freed
    except OSError:
        return 0
    finally:
        os.close(descriptor)


def _parts(lock: Path) -> list[Path]:
    return [path for suffix in _PARTS if (path := lock.with_suffix(suffix)).exists()]

"""Files below a directory, named in URLs by ids that are no paths: one decode, and then no way out.

An id is the relative path in base64, so that nothing on the way (a browser, a proxy, the router) reads dots and slashes
in it. Each part of the path is then opened in turn from the one before, following no link.
"""

from __future__ import annotations

import base64
import binascii
import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from paddock.errors import NotFound

LONGEST = 4096  # of a path
DEEPEST = 64
_LINK = (errno.ELOOP, errno.ENOTDIR, errno.ENOENT, errno.EMLINK, errno.ENAMETOOLONG, errno.EACCES)


class Kept(Struct, frozen=True):
    """A file in the directory."""

    id: str
    path: str  # as text, below the directory
    size: int
    modified: float


def file_id(path: bytes) -> str:
    return base64.urlsafe_b64encode(path).rstrip(b"=").decode()


def path_of(word: str) -> tuple[bytes, ...]:
    """The parts of the path that an id stands for; NotFound unless each is a plain name."""
    try:
        data = word.encode("ascii")
        path = base64.b64decode(data + b"=" * (-len(data) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise _unknown() from None
    parts = tuple(path.split(b"/"))
    plain = all(part not in (b"", b".", b"..") and b"\0" not in part for part in parts)
    if not plain or len(path) > LONGEST or len(parts) > DEEPEST or file_id(path) != word:
        raise _unknown()
    return parts


def open_inside(directory: Path, word: str) -> int:
    """A descriptor of the regular file that the id stands for."""
    *folders, name = path_of(word)
    at = -1
    try:
        at = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        for folder in folders:
            inner = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=at)
            os.close(at)
            at = inner
        found = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=at)
    except OSError as error:
        if error.errno in _LINK:
            raise _unknown() from None
        raise
    finally:
        if at >= 0:
            os.close(at)
    if not stat.S_ISREG(os.fstat(found).st_mode):
        os.close(found)
        raise _unknown()
    return found


def files(directory: Path, most: int) -> tuple[list[Kept], bool]:
    """The regular files below, by path, and whether there are more than `most`."""
    found: list[Kept] = []
    for path, status in _walk(os.fsencode(directory), b"", 0):
        if len(found) == most:
            return found, True
        shown = path.decode("utf-8", "backslashreplace")
        found.append(Kept(file_id(path), shown, status.st_size, status.st_mtime))
    return found, False


def _walk(base: bytes, below: bytes, depth: int) -> Iterator[tuple[bytes, os.stat_result]]:
    try:
        with os.scandir(base + b"/" + below if below else base) as scan:
            entries = sorted(scan, key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        path = below + b"/" + entry.name if below else entry.name
        if len(path) > LONGEST:
            continue
        try:
            if entry.is_dir(follow_symlinks=False):
                if depth + 2 < DEEPEST:
                    yield from _walk(base, path, depth + 1)
            elif entry.is_file(follow_symlinks=False):
                yield path, entry.stat(follow_symlinks=False)
        except OSError:
            continue


def _unknown() -> NotFound:
    return NotFound("There is no such file.", hint="The list of files has the ids.")

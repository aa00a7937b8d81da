"""Files that are whole or absent: write aside and rename, create once, follow a growing one."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from io import FileIO
from pathlib import Path


def write_once(path: Path, data: bytes) -> bool:
    """Put `data` at `path` unless something is there already; True when this call was the one that did.

    Readers see the whole content or nothing, and the content is on disk before the name is.
    """
    aside = _write_aside(path, data)
    try:
        try:
            os.link(aside, path)
        except FileExistsError:
            return False
        except OSError:
            # No hard links here (some FUSE and SMB mounts): O_EXCL decides, and a reader may see half for a moment.
            try:
                descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644)
            except FileExistsError:
                return False
            try:
                write_all(descriptor, data)
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        return True
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(aside)
        sync_directory(path.parent)


def replace(path: Path, data: bytes) -> None:
    """Put `data` at `path`, whatever was there; a reader sees the old content or the new, never a mixture."""
    aside = _write_aside(path, data)
    try:
        os.replace(aside, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(aside)
        raise
    sync_directory(path.parent)


def _write_aside(path: Path, data: bytes) -> str:
    aside = f"{path.parent}/.{path.name}.{os.urandom(6).hex()}.tmp"
    descriptor = os.open(aside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644)
    try:
        write_all(descriptor, data)
        os.fsync(descriptor)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(aside)
        raise
    finally:
        os.close(descriptor)
    return aside


def write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def sync_directory(path: Path, *, strict: bool = False) -> None:
    """Make a new name survive a power cut. Some filesystems cannot; they lose nothing else by it. `strict` raises when
    one that can has failed."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        if strict and error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.ENOSYS, errno.EBADF, errno.EACCES):
            raise


def open_regular(path: Path | str) -> FileIO:
    """Open a file to read it, unbuffered. A pipe or a device under its name is refused: opening one could wait for
    ever."""
    return open(path, "rb", buffering=0, opener=_without_waiting)


def _without_waiting(path: str, flags: int) -> int:
    descriptor = os.open(path, flags | os.O_NONBLOCK)
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode):  # a directory is refused by open() itself
        return descriptor
    os.close(descriptor)
    raise OSError(errno.EINVAL, "Not a regular file", path)


def read_from(path: Path | str, offset: int, limit: int = -1) -> bytes:
    with open_regular(path) as file:
        file.seek(offset)
        return file.read(limit) if limit >= 0 else file.read()


def entries(path: Path | str) -> Iterator[os.DirEntry[str]]:
    """A directory's entries, none when it is not there. Names are listed, never polled: on NFS a listing is
    fresh within milliseconds where exists() of a name once missing stays wrong for half a minute."""
    try:
        scan = os.scandir(path)
    except (FileNotFoundError, NotADirectoryError):
        return
    with scan:
        yield from scan


def is_planted(path: str | os.PathLike[str]) -> bool:
    """Whether somebody else has put it where everybody may put things, as in /tmp: what is looked for upwards says what
    is run as us."""
    try:
        owner, place = os.lstat(path).st_uid, os.stat(os.path.dirname(os.path.abspath(path))).st_mode
    except OSError:
        return False
    return owner not in (0, os.getuid()) and bool(place & stat.S_IWOTH and place & stat.S_ISVTX)

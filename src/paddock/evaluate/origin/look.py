"""One look at a candidate: the names, sizes and times of its files, and a way to read a few of their bytes.

Nothing here decides. A checkpoint is never unpickled: what its bytes say is read as bytes.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

MOST_FILES = 100_000
PINS = ".paddock-pins"  # a directory of ours, which is no part of any checkpoint


class Entry(NamedTuple):
    size: int
    mtime: int  # ns
    inode: int


@dataclass(frozen=True)
class Look:
    """A file, or a directory with all that is below it. A file's only entry has the name ""."""

    path: str
    is_directory: bool
    files: Mapping[str, Entry] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return os.path.basename(self.path)

    @property
    def newest(self) -> int:
        return max((entry.mtime for entry in self.files.values()), default=0)

    @property
    def size(self) -> int:
        return sum(entry.size for entry in self.files.values())

    @property
    def appears_whole(self) -> bool:
        """Whether a file that is there is all there: objects of a store are, files are not."""
        return False

    def where(self, name: str) -> str:
        return os.path.join(self.path, name) if name else self.path

    def read(self, name: str, offset: int = 0, size: int = 1 << 20) -> bytes:
        """Bytes of a file, from its end when `offset` is negative; none when it cannot be read just now."""
        return _read(self.where(name), offset, size)

    def identity(self, name: str) -> str:
        """What the place itself says of a file's content; "" where it says nothing."""
        return ""

    def beside(self) -> Mapping[str, Entry]:
        """The files in the directory that it lies in."""
        found: dict[str, Entry] = {}
        with contextlib.suppress(OSError), os.scandir(os.path.dirname(self.path)) as listing:
            for entry in listing:
                with contextlib.suppress(OSError):  # removed since it was listed
                    if entry.is_file():
                        found[entry.name] = entry_of(entry.stat())
        return found

    def read_beside(self, name: str, size: int = 1 << 20) -> bytes | None:
        """Of a file in the directory that it lies in; None when there is none."""
        path = os.path.join(os.path.dirname(self.path), name)
        return _read(path, 0, size) if os.path.exists(path) else None


def look(path: str) -> Look | None:
    """None when there is nothing. Links are followed, for a checkpoint may be a link; a circle of them is not."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    if stat.S_ISREG(found.st_mode):
        return Look(path, False, {"": entry_of(found)})
    if not stat.S_ISDIR(found.st_mode):
        return None
    files: dict[str, Entry] = {}
    for directory, below, names in os.walk(path):
        if PINS in below:
            below.remove(PINS)
        for name in names:
            where = os.path.join(directory, name)
            with contextlib.suppress(OSError):  # removed since it was listed
                about = os.stat(where)
                if stat.S_ISREG(about.st_mode):
                    files[os.path.relpath(where, path)] = entry_of(about)
        if len(files) > MOST_FILES:
            break
    return Look(path, True, files)


def entry_at(path: str) -> Entry | None:
    """Of a file alone, which costs a fraction of a look."""
    try:
        about = os.stat(path)
    except OSError:
        return None
    return entry_of(about) if stat.S_ISREG(about.st_mode) else None


def entry_of(about: os.stat_result) -> Entry:
    return Entry(about.st_size, about.st_mtime_ns, about.st_ino)


def _read(path: str, offset: int, size: int) -> bytes:
    try:
        with open(path, "rb", buffering=0) as file:
            if offset < 0:
                file.seek(max(0, os.fstat(file.fileno()).st_size + offset))
            else:
                file.seek(offset)
            return file.read(size) or b""
    except OSError:
        return b""

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

    def where(self, name: str) -> str:
        return os.path.join(self.path, name) if name else self.path

    def read(self, name: str, offset: int = 0, size: int = 1 << 20) -> bytes:
        """Bytes of a file, from its end when `offset` is negative; none when it cannot be read just now."""
        try:
            with open(self.where(name), "rb", buffering=0) as file:
                if offset < 0:
                    file.seek(max(0, os.fstat(file.fileno()).st_size + offset))
                else:
                    file.seek(offset)
                return file.read(size) or b""
        except OSError:
            return b""


def look(path: str) -> Look | None:
    """None when there is nothing. Links are followed, for a checkpoint may be a link; a circle of them is not."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    if stat.S_ISREG(found.st_mode):
        return Look(path, False, {"": Entry(found.st_size, found.st_mtime_ns, found.st_ino)})
    if not stat.S_ISDIR(found.st_mode):
        return None
    files: dict[str, Entry] = {}
    for directory, _, names in os.walk(path):
        for name in names:
            where = os.path.join(directory, name)
            with contextlib.suppress(OSError):  # removed since it was listed
                about = os.stat(where)
                if stat.S_ISREG(about.st_mode):
                    entry = Entry(about.st_size, about.st_mtime_ns, about.st_ino)
                    files[os.path.relpath(where, path)] = entry
        if len(files) > MOST_FILES:
            break
    return Look(path, True, files)

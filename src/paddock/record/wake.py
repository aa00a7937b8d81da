"""Being told when a directory changes. The kernel tells on local disks; of what other machines do on a network disk it
tells nothing, without an error, so there only listings count."""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

CLOSE_WRITE, MOVED_FROM, MOVED_TO, CREATE, DELETE = 0x8, 0x40, 0x80, 0x100, 0x200
DELETE_SELF, MOVE_SELF, UNMOUNT, OVERFLOW, IGNORED = 0x400, 0x800, 0x2000, 0x4000, 0x8000
NAMES = MOVED_FROM | MOVED_TO | CREATE | DELETE
HERE = MOVED_TO | CREATE | CLOSE_WRITE
NONBLOCK, CLOEXEC = 0o4000, 0o2000000
HEADER = struct.Struct("iIII")
BYTES = 1 << 16


class Change(NamedTuple):
    """Something happened to a name in a directory: it came (or was written to), or it went."""

    directory: str
    name: str
    here: bool
    moved: bool = False  # it came by a rename, so it is whole


class Wake:
    """`directories`: what each is called, its path, and whether it matters that a file there was written to. Hidden
    names are nobody's news, but for those that end with `hidden`."""

    def __init__(self, directories: Mapping[str, tuple[Path, bool]], hidden: str = "/") -> None:
        self._hidden = hidden
        self.fd = -1  # readable when there is news; -1 where the kernel cannot tell
        self._watched: dict[int, str] = {}
        if not directories:
            return
        try:
            self._libc = ctypes.CDLL(None, use_errno=True)
            self.fd = self._libc.inotify_init1(NONBLOCK | CLOEXEC)
        except (OSError, AttributeError):
            return
        for name, (path, writes) in directories.items():
            self.add(name, path, writes)

    def add(self, name: str, path: Path, writes: bool) -> None:
        """One more. Where the kernel cannot tell of it, it tells of none: half of the news would be taken for all."""
        if self.fd < 0:
            return
        mask = NAMES | DELETE_SELF | MOVE_SELF | (CLOSE_WRITE if writes else 0)
        number = self._libc.inotify_add_watch(self.fd, os.fsencode(path), mask)
        if number < 0:
            self.close()
        else:
            self._watched[number] = name

    def read(self) -> list[Change] | None:
        """What happened since the last call; None when only listings can tell. A name that was moved twice comes
        twice, in the order of the moves."""
        found: list[Change] = []
        while self.fd >= 0:
            try:
                data = os.read(self.fd, BYTES)
            except BlockingIOError:
                return found
            except OSError:
                self.close()
                return None
            at = 0
            while at < len(data):
                number, mask, _, size = HEADER.unpack_from(data, at)
                if mask & (DELETE_SELF | MOVE_SELF | UNMOUNT | IGNORED):
                    self.close()  # what we watched is not the queue's directory any more
                    return None
                if mask & OVERFLOW:
                    self._skip()
                    return None
                name = data[at + 16 : at + 16 + size].rstrip(b"\0").decode("utf-8", "surrogateescape")
                at += 16 + size
                if name[:1] != "." or name.endswith(self._hidden):
                    found.append(Change(self._watched[number], name, mask & HERE != 0, mask & MOVED_TO != 0))
            if len(data) < BYTES // 2:
                return found
        return None

    def _skip(self) -> None:
        """Everything will be listed anyway."""
        try:
            while os.read(self.fd, BYTES):
                pass
        except OSError:
            pass

    def close(self) -> None:
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1

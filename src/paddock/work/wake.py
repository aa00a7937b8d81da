"""Being woken when a directory changes. The kernel tells on local disks; on network disks it tells nothing, without an
error, so a listing every second or two decides there, and every few seconds everywhere."""

from __future__ import annotations

import contextlib
import ctypes
import os
from collections.abc import Iterable
from pathlib import Path

_CREATE, _DELETE, _MOVED_FROM, _MOVED_TO, _CLOSE_WRITE = 0x100, 0x200, 0x40, 0x80, 0x8
_NONBLOCK, _CLOEXEC = 0o4000, 0o2000000


class Wake:
    """A file descriptor that becomes readable; -1 where the kernel cannot tell."""

    def __init__(self, directories: Iterable[Path]) -> None:
        self.fd = -1
        try:
            libc = ctypes.CDLL(None, use_errno=True)
            fd = libc.inotify_init1(_NONBLOCK | _CLOEXEC)
        except (OSError, AttributeError):
            return
        if fd < 0:
            return
        self.fd = fd
        mask = _CREATE | _DELETE | _MOVED_FROM | _MOVED_TO | _CLOSE_WRITE
        for directory in directories:
            if libc.inotify_add_watch(fd, os.fsencode(directory), mask) < 0:
                self.close()
                return

    def drain(self) -> None:
        """What happened is not asked: a listing says it better, and an overflow would hide some of it."""
        with contextlib.suppress(BlockingIOError, OSError):
            while os.read(self.fd, 65536):
                pass

    def close(self) -> None:
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1

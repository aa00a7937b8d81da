"""Being told by the kernel that something was written below a home, so that nobody has to look all the time.

On network disks it does not tell what other machines do, so there one has to look. Nor does it when the user may not
have so many watches: half of the news would be taken for all.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable
from pathlib import Path

from paddock.record import wake
from paddock.record.filesystem import is_local

MODIFY = 0x2
ONLY_DIRECTORIES = 0x01000000
NAMES = wake.NAMES | wake.DELETE_SELF | wake.MOVE_SELF | ONLY_DIRECTORIES
WRITES = NAMES | MODIFY
_SHARE = 4  # we take at most this part of the watches that the user may have


class News:
    """`fd` is readable when there is some; -1 when the kernel cannot tell."""

    def __init__(self, homes: Iterable[Path]) -> None:
        self.fd = -1
        self._numbers: dict[str, int] = {}
        self._paths: dict[int, str] = {}
        self._room = _most_watches() // _SHARE
        if not all(is_local(path) for path in homes):
            return
        try:
            self._libc = ctypes.CDLL(None, use_errno=True)
            self.fd = self._libc.inotify_init1(wake.NONBLOCK | wake.CLOEXEC)
        except (OSError, AttributeError):
            return

    def watch(self, directories: dict[str, int]) -> bool:
        """These and no others; what each is to tell of. Whether there are some that were not watched before: who looked
        already has to look once more."""
        if self.fd < 0:
            return False
        for path in self._numbers.keys() - directories.keys():
            self._forget(path)
        new = False
        for path, mask in directories.items():
            if path in self._numbers:
                continue
            number = self._libc.inotify_add_watch(self.fd, os.fsencode(path), mask)
            if number >= 0:
                self._numbers[path], self._paths[number] = number, path
                new = True
            elif os.path.isdir(path) or len(self._numbers) >= self._room:
                self.close()
                return False
        if len(self._numbers) > self._room:
            self.close()
        return new

    def read(self) -> set[str] | None:
        """The directories that something happened in since the last call; None when it may be all of them."""
        found: set[str] = set()
        every = self.fd < 0
        while self.fd >= 0:
            try:
                data = os.read(self.fd, wake.BYTES)
            except BlockingIOError:
                break
            except OSError:
                self.close()
                break
            at = 0
            while at < len(data):
                number, mask, _, size = wake.HEADER.unpack_from(data, at)
                at += 16 + size
                every = every or bool(mask & wake.OVERFLOW)
                path = self._paths.get(number, "")
                if path:
                    found.add(path)
                if mask & wake.IGNORED and path:  # it is gone; one of the same name is another
                    del self._paths[number], self._numbers[path]
        return None if every else found

    def _forget(self, path: str) -> None:
        number = self._numbers.pop(path)
        self._paths.pop(number, None)
        self._libc.inotify_rm_watch(self.fd, number)

    def close(self) -> None:
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1
            self._numbers.clear()
            self._paths.clear()


def _most_watches() -> int:
    try:
        return int(Path("/proc/sys/fs/inotify/max_user_watches").read_text())
    except (OSError, ValueError):
        return 8192

"""Being told of changes in many directories, for many who want to know, by one descriptor: the system lets a user have
about a hundred of those, and each costs something to close."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Hashable, Iterator, KeysView, Set
from typing import Generic, TypeVar

from paddock.record import wake
from paddock.record.wake import Change

Owner = TypeVar("Owner", bound=Hashable)
_GONE = wake.DELETE_SELF | wake.MOVE_SELF | wake.UNMOUNT | wake.IGNORED
_MASK = wake.NAMES | wake.DELETE_SELF | wake.MOVE_SELF | wake.CLOSE_WRITE


class Wakes(Generic[Owner]):
    def __init__(self, hidden: str) -> None:
        """Of hidden names only those that end so are told."""
        self._hidden = hidden
        self.fd = -1  # readable when there is news; -1 where the kernel cannot tell
        self._paths: dict[Owner, dict[str, int]] = {}  # what each is told of, and the kernel's numbers for it
        self._wanted: dict[int, set[tuple[Owner, str]]] = {}
        try:
            self._libc = ctypes.CDLL(None, use_errno=True)
            self.fd = self._libc.inotify_init1(wake.NONBLOCK | wake.CLOEXEC)
        except (OSError, AttributeError):
            return

    def watched(self, owner: Owner) -> KeysView[str]:
        return self._paths.setdefault(owner, {}).keys()

    def watch(self, owner: Owner, directories: Set[str]) -> bool:
        """From now on the owner is told of these directories and no others; False when one of them cannot be watched,
        though it is there."""
        before = set(self.watched(owner))
        for path in before - directories:
            self._forget(owner, path)
        failed = [path for path in directories - before if not self._add(owner, path)]
        return not failed

    def read(self) -> dict[Owner, list[Change] | None]:
        """Who is told what, in the order in which it happened; None: look at everything."""
        found: dict[Owner, list[Change] | None] = {}
        for number, mask, name in self._events():
            if mask & wake.OVERFLOW:
                return dict.fromkeys(self._paths)
            for owner, path in tuple(self._wanted.get(number, ())):
                if mask & _GONE:
                    self._forget(owner, path)
                    # Of one below another the directory above tells, unless there is one in its place already.
                    if os.path.dirname(path) not in self._paths[owner] or os.path.isdir(path):
                        found[owner] = None
                elif name[:1] != "." or name.endswith(self._hidden):
                    told = found.setdefault(owner, [])
                    if told is not None:
                        told.append(Change(path, name, mask & wake.HERE != 0, mask & wake.MOVED_TO != 0))
        return found

    def close(self) -> None:
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1

    def _events(self) -> Iterator[tuple[int, int, str]]:
        while self.fd >= 0:
            try:
                data = os.read(self.fd, wake.BYTES)
            except BlockingIOError:
                return
            at = 0
            while at < len(data):
                number, mask, _, size = wake.HEADER.unpack_from(data, at)
                yield number, mask, data[at + 16 : at + 16 + size].rstrip(b"\0").decode("utf-8", "surrogateescape")
                at += 16 + size

    def _add(self, owner: Owner, path: str) -> bool:
        number = self._libc.inotify_add_watch(self.fd, os.fsencode(path), _MASK) if self.fd >= 0 else -1
        if number < 0:
            return not os.path.isdir(path)  # removed since it was listed: there is nothing to watch
        self._paths[owner][path] = number
        self._wanted.setdefault(number, set()).add((owner, path))
        return True

    def _forget(self, owner: Owner, path: str) -> None:
        number = self._paths[owner].pop(path)
        self._wanted[number].discard((owner, path))
        if not self._wanted[number]:
            del self._wanted[number]
            self._libc.inotify_rm_watch(self.fd, number)  # a moved directory would go on telling

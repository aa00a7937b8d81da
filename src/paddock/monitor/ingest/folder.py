"""The home as the receiver sees it: directories that are really its own, and files opened without following links."""

from __future__ import annotations

import os
import stat

from paddock.errors import Refused
from paddock.record.layout import Home
from paddock.track.ship.names import Place

_KNOWN = 10_000  # directories that need no second look


class Folder:
    def __init__(self, home: Home) -> None:
        self._root = str(home.path)
        self._known: set[str] = set()

    def path(self, place: Place) -> str:
        """Where the file is or will be, its directory not yet looked at."""
        return f"{self._root}/{place.path}"

    def look(self, place: Place) -> os.stat_result | None:
        """The file, when it is there and really a file."""
        self._check(place.parts[:-1], make=False)
        try:
            found = os.lstat(self.path(place))
        except (FileNotFoundError, NotADirectoryError):
            return None
        if not stat.S_ISREG(found.st_mode):
            raise Refused(f"{place.path} is no ordinary file at the server.")
        return found

    def prepare(self, place: Place) -> list[str]:
        """Make the directories of a file; returns those that got a new name."""
        return self._check(place.parts[:-1], make=True)

    def knows(self, place: Place) -> bool:
        return "/".join(place.parts[:-1]) in self._known

    def forget(self, place: Place) -> None:
        """A directory that was known is gone: somebody removed the run."""
        for number in range(1, len(place.parts)):
            self._known.discard("/".join(place.parts[:number]))

    def _check(self, parts: tuple[str, ...], *, make: bool) -> list[str]:
        """Below `runs/<id>` nothing may be a link: it could lead anywhere. Above, the owner may have put his runs on
        another disk."""
        joined = "/".join(parts)
        if joined in self._known:
            return []
        changed = []
        for number in range(1, len(parts) + 1):
            below = "/".join(parts[:number])
            if below in self._known:
                continue
            path = f"{self._root}/{below}"
            try:
                found = os.stat(path) if number < 3 else os.lstat(path)
            except FileNotFoundError:
                if not make:
                    return []
                os.makedirs(path, exist_ok=True)
                changed.append(os.path.dirname(path))
                found = os.lstat(path)
            if not stat.S_ISDIR(found.st_mode):
                raise Refused(f"{below} is no directory at the server.")
            if len(self._known) >= _KNOWN:
                self._known.clear()
            self._known.add(below)
        return changed

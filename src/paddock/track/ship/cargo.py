"""One file on its way: what is there, what the server has of it, what goes next."""

from __future__ import annotations

import hashlib
from typing import Any

from paddock import files
from paddock.track.ship import names, source
from paddock.track.ship.parcel import Answer, Ask, Part
from paddock.track.ship.source import Found

_HASHED_AT_ONCE = 32 << 20  # bytes: journals wait as long as this takes
_CONFLICTS = 5


class Cargo:
    """What the server said last is believed until something fails; then it is asked again."""

    def __init__(self, kind: str, run: str, found: Found, data: bytes | None = None, digest: str = "") -> None:
        self.kind, self.run, self.found, self.data, self.digest = kind, run, found, data, digest
        self.asked = False  # `have` is what the server said
        self.have = 0
        self.done = False  # of one that travels whole
        self.refused = ""
        self.kept_as = ""
        self.skip = 0
        self.thorough = False  # the server has other bytes: compare all of them when asked
        self.wants_digest = False
        self.gone = False  # the server was told that its process has ended
        self._conflicts = 0
        self._hashing: tuple[Any, int] | None = None

    @property
    def path(self) -> str:
        return names.encoded(self.kept_as or self.found.path)

    @property
    def left(self) -> int:
        if self.refused or self.done:
            return 0
        return max(0, self.found.size - max(self.have, 0))

    @property
    def pending(self) -> bool:
        """There is something to send, as far as we know."""
        if self.refused:
            return False
        return self.found.size > self.have if self.kind == names.STREAM else not self.done

    def update(self, found: Found) -> None:
        """It was looked at again."""
        if self.kind == names.STREAM:
            if found.size < self.found.size and self.asked and found.size < self.have:
                self.skip, self.asked, self.have = self.skip + 1, False, 0  # truncated: it is another file now
        elif (found.size, found.mtime) != (self.found.size, self.found.mtime):
            self.done, self.asked, self.digest, self._hashing, self.have = False, False, "", None, 0
        self.found = found

    def ask(self) -> Ask:
        path = names.encoded(self.found.path)
        if self.kind != names.STREAM:
            return Ask(path, self.found.size, self.found.mtime, self.digest)
        size = min(self.found.size, self.have if self.thorough else source.HEAD_BYTES)
        return Ask(path, head=source.head(self.found, size) if size else None, skip=self.skip)

    def answered(self, answer: Answer) -> str:
        """To an Ask; returns why the server could not say it, if so."""
        self.refused = answer.refused
        if answer.failed:
            return answer.failed
        if self.kind == names.STREAM:
            self.kept_as = answer.kept_as
            if answer.have > self.found.size and not self.thorough:
                self.have, self.thorough = self.found.size, True  # the server has more than there is: the same?
                return ""
            self.have, self.asked, self.thorough = answer.have, True, False
            return ""
        self.done = answer.done
        self.have = max(answer.have, 0)
        self.wants_digest = answer.have < 0
        self.asked = not self.wants_digest
        return ""

    def taken(self, answer: Answer) -> str:
        """To a Part; returns why the server could not take it now, if so."""
        self.refused = answer.refused
        if answer.conflict:
            self._conflicts += 1
            self.asked, self.thorough, self.have = False, True, min(answer.have, self.found.size)
            if self._conflicts > _CONFLICTS:
                self.refused = f"The server's copy of {self.found.path} differs, again and again."
            return ""
        if answer.failed:
            self.asked = False
            self.digest = "" if self.data is None and self.kind == names.WHOLE else self.digest  # it may have changed
            self._hashing = None
            return answer.failed
        self.have, self.done = answer.have, answer.done
        return ""

    def hashed(self) -> bool:
        """Whether the digest of a file that travels whole is known; a large one takes several calls."""
        if self.digest:
            return True
        state, at = self._hashing or (hashlib.sha256(), 0)
        with files.open_regular(self.found.source) as file:
            file.seek(at)
            left = _HASHED_AT_ONCE
            while left > 0 and (piece := file.read(min(left, 1 << 20))):
                state.update(piece)
                at, left = at + len(piece), left - len(piece)
        if left > 0:  # its end
            self.digest, self._hashing = state.hexdigest(), None
            return True
        self._hashing = state, at
        return False

    def part(self, most: int, *, whole_lines: bool, gone: bool) -> tuple[Part, bytes] | None:
        """The next bytes, at most so many."""
        at = self.have
        if self.kind != names.STREAM:
            data = self.data[at : at + most] if self.data is not None else files.read_from(self.found.source, at, most)
            data = data[: self.found.size - at]
            part = Part(self.path, at, len(data), None, self.found.size, self.digest, self.found.mtime)
            return (part, data) if data or not self.found.size else None
        before, data = source.read(self.found, at, min(most, self.found.size - at))
        if whole_lines and (end := data.rfind(b"\n") + 1):
            data = data[:end]
        elif whole_lines and len(data) < most:
            return None  # the beginning of a line: the rest comes soon
        return (Part(self.path, at, len(data), before, gone=gone), data) if data or gone else None

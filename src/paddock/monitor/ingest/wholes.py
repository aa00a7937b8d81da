"""Files that come as one piece: gathered aside under their digest, checked, and put in place by a rename.

What was gathered stays when a connection or the server dies, so a large file goes on where it was.
"""

from __future__ import annotations

import hashlib
import os
import re
from typing import Any

from paddock import files
from paddock.monitor.ingest.durable import Durable
from paddock.monitor.ingest.folder import Folder
from paddock.record.layout import Home
from paddock.record.objects import DIGEST, is_kept
from paddock.track.ship.names import OBJECT, Place
from paddock.track.ship.parcel import Answer, Ask, Part

_PIECE = 1 << 20
_HASHES = 256
_CHANGED = "it changed while it was sent"
ASIDE = re.compile(r"[0-9a-f]{32}\.part")


class Wholes:
    def __init__(self, home: Home, folder: Folder, durable: Durable) -> None:
        self._incoming = f"{home.path}/server/incoming"
        self._folder, self._durable = folder, durable
        self._hashes: dict[str, tuple[Any, int]] = {}  # of what is being gathered, and of how many bytes

    def answer(self, ask: Ask, where: Place) -> Answer:
        digest = where.digest or ask.digest
        found, path = self._folder.look(where), self._folder.path(where)
        if where.kind == OBJECT:
            if found is not None and is_kept(path, ask.size):
                return Answer(ask.size, done=True)
        elif found is not None and found.st_size == ask.size:
            if ask.mtime and found.st_mtime_ns == ask.mtime:
                return Answer(ask.size, done=True)
            if digest and _digest(path) == digest:
                os.utime(path, ns=(ask.mtime, ask.mtime))
                return Answer(ask.size, done=True)
        if not DIGEST.fullmatch(digest):
            return Answer(-1)
        aside = self._aside(where, digest)
        try:
            have = os.stat(aside).st_size
        except FileNotFoundError:
            return Answer(0)
        if have < ask.size:
            return Answer(have)
        return self._finish(where, aside, digest, ask.size, ask.mtime)

    def take(self, part: Part, where: Place, data: memoryview) -> Answer:
        digest = where.digest or part.digest
        if not DIGEST.fullmatch(digest) or part.total < 0:
            return Answer(0, refused="A file that travels whole comes with its size and its digest.")
        aside = self._aside(where, digest)
        os.makedirs(self._incoming, mode=0o700, exist_ok=True)
        descriptor = os.open(aside, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
        try:
            size = os.fstat(descriptor).st_size
            if part.at > size:
                return Answer(size)
            rest = data[size - part.at :]
            while rest:
                try:
                    written = os.write(descriptor, rest)
                except OSError as error:
                    return Answer(size, failed=error.strerror or str(error))
                self._note(aside, size, rest[:written])
                size += written
                rest = rest[written:]
        finally:
            os.close(descriptor)
        if size < part.total:
            return Answer(size)
        return self._finish(where, aside, digest, part.total, part.mtime)

    def _note(self, aside: str, at: int, data: memoryview) -> None:
        """Reckon the digest while it comes: reading a large file again would keep all other clients waiting."""
        known, size = self._hashes.get(aside, (hashlib.sha256(), 0))
        if size != at:  # it was begun before the server was started: then it is read again at the end
            return
        known.update(data)
        self._hashes[aside] = known, at + len(data)
        if len(self._hashes) > _HASHES:
            self._hashes.pop(next(iter(self._hashes)))

    def _finish(self, where: Place, aside: str, digest: str, total: int, mtime: int) -> Answer:
        known, size = self._hashes.pop(aside, (None, -1))
        content = known.hexdigest() if known is not None and size == total else _digest(aside)
        if os.stat(aside).st_size != total or content != digest:
            os.unlink(aside)
            return Answer(0, failed=_CHANGED)
        path = self._folder.path(where)
        self._folder.forget(where)
        changed = self._folder.prepare(where)
        if where.kind == OBJECT:
            os.chmod(aside, 0o444)
        elif mtime:
            os.utime(aside, ns=(mtime, mtime))
        os.replace(aside, path)
        self._durable.note(path, os.path.dirname(path), *changed)  # not here: everybody would wait for this disk
        return Answer(total, done=True)

    def _aside(self, where: Place, digest: str) -> str:
        name = hashlib.sha256(os.fsencode(where.path) + b"\0" + digest.encode()).hexdigest()[:32]
        return f"{self._incoming}/{name}.part"


def _digest(path: str) -> str:
    found = hashlib.sha256()
    with files.open_regular(path) as file:
        while piece := file.read(_PIECE):
            found.update(piece)
    return found.hexdigest()

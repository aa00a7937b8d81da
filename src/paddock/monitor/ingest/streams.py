"""Files that grow at their end. Bytes are appended at exactly the length that a file has; what is there stays."""

from __future__ import annotations

import gzip
import os
import shutil
import stat
import zlib
from zlib import crc32

from paddock import files
from paddock.errors import Damaged, Refused
from paddock.monitor.ingest.durable import Durable
from paddock.monitor.ingest.folder import Folder
from paddock.record.scan import PACKED, PLAIN
from paddock.track.ship.names import Place, numbered, place
from paddock.track.ship.parcel import Answer, Ask, Part

_NAMES = 100  # that one stream can have: each is a conflict of its own
_PIECE = 1 << 20
_FLAGS = os.O_RDWR | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK


class Streams:
    def __init__(self, folder: Folder, durable: Durable) -> None:
        self._folder, self._durable = folder, durable

    def answer(self, ask: Ask, where: Place) -> Answer:
        """How far the first of its names got whose bytes are those that the client has."""
        for number in range(max(0, ask.skip), _NAMES):
            path = numbered(where.path, number)
            found = place(path) if number else where
            if found is None:
                break
            have = self._fitting(found, ask.head)
            if have >= 0:
                return Answer(have, kept_as=path if number else "")
        return Answer(0, refused=f"The server has too many others of the name {where.path}.")

    def take(self, part: Part, where: Place, data: memoryview) -> Answer:
        descriptor = self._opened(where)
        try:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode):
                raise Refused(f"{where.path} is no ordinary file at the server.")
            size = found.st_size
            if part.at > size:  # it was cut, or removed: the client is told where to go on
                return Answer(size)
            if not _continues(descriptor, part, size, data):
                return Answer(size, conflict=True)
            rest = data[size - part.at :]
            if rest:
                self._durable.note(self._folder.path(where))
            while rest:
                try:
                    written = os.write(descriptor, rest)
                except OSError as error:
                    return Answer(size, failed=error.strerror or str(error))
                size += written
                rest = rest[written:]
            return Answer(size)
        finally:
            os.close(descriptor)

    def _fitting(self, where: Place, head: tuple[int, int] | None) -> int:
        """The file's length; 0 when there is none, -1 when its first bytes are others."""
        found, path = self._folder.look(where), self._folder.path(where)
        if found is None:
            if not _is_packed(path):
                return 0
            self._unpack(path)
            found = os.stat(path)
        if head is None or not 0 < head[0] <= found.st_size:
            return found.st_size
        return found.st_size if _checksum(path, head[0]) == head[1] else -1

    def _opened(self, where: Place) -> int:
        path = self._folder.path(where)
        if self._folder.knows(where):
            try:
                return os.open(path, _FLAGS)
            except FileNotFoundError:  # new, packed, or the whole run was removed
                self._folder.forget(where)
        changed = self._folder.prepare(where)
        if not os.path.lexists(path) and _is_packed(path):
            self._unpack(path)
        descriptor = os.open(path, _FLAGS | os.O_CREAT, 0o644)
        self._durable.note(os.path.dirname(path), *changed)
        return descriptor

    def _unpack(self, path: str) -> None:
        """`paddock gc --pack` on the server took it for ended; it goes on."""
        packed, aside = _packed(path), f"{os.path.dirname(path)}/.{os.path.basename(path)}.{os.urandom(6).hex()}.tmp"
        try:
            with gzip.open(packed, "rb") as source, open(aside, "xb") as target:
                shutil.copyfileobj(source, target, _PIECE)
                target.flush()
                os.fsync(target.fileno())
            os.rename(aside, path)
        except (EOFError, zlib.error, gzip.BadGzipFile):
            raise Damaged(f"{os.path.basename(packed)} is damaged at the server.") from None
        finally:
            if os.path.lexists(aside):
                os.unlink(aside)
        os.unlink(packed)  # of both only the plain one counts, should we die before this
        files.sync_directory(os.path.dirname(path))  # type: ignore[arg-type]


def _continues(descriptor: int, part: Part, size: int, data: memoryview) -> bool:
    """Whether what came fits what is there: the bytes before it, and those that came already."""
    if part.before is not None:
        count, expected = part.before
        if crc32(os.pread(descriptor, count, part.at - count)) != expected:
            return False
    known = min(size - part.at, len(data))
    return known <= 0 or os.pread(descriptor, known, part.at) == data[:known]


def _packed(path: str) -> str:
    return path.removesuffix(PLAIN) + PACKED


def _is_packed(path: str) -> bool:
    return path.endswith(PLAIN) and os.path.isfile(_packed(path))


def _checksum(path: str, size: int) -> int:
    found = 0
    with files.open_regular(path) as file:
        while size:
            piece = file.read(min(size, _PIECE))
            if not piece:
                return -1
            found, size = crc32(piece, found), size - len(piece)
    return found

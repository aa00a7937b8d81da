"""What a server has received, and takes next. One thread calls it. What it answers is the truth of the disk; nothing is
remembered beside that."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Sequence
from functools import partial

from paddock.errors import HomeError, PaddockError
from paddock.monitor.ingest.durable import Durable
from paddock.monitor.ingest.folder import Folder
from paddock.monitor.ingest.once import Once
from paddock.monitor.ingest.streams import Streams
from paddock.monitor.ingest.wholes import Wholes
from paddock.record import shipped
from paddock.record.homeid import home_id
from paddock.record.layout import Home
from paddock.track.ship.names import ENTRY, FACTS, STREAM, Place, place
from paddock.track.ship.parcel import Answer, Ask, Header, Part


class Store:
    def __init__(self, home: Home) -> None:
        home.prepare()
        self.home = home
        self.id = home_id(home)
        self._lock = _exclusive(home)
        self._durable = Durable(home)
        folder = Folder(home)
        self._streams = Streams(folder, self._durable)
        self._wholes = Wholes(home, folder, self._durable)
        self._once = Once(home, folder, self._durable)

    def answer(self, asks: Sequence[Ask]) -> list[Answer]:
        return [_answered(ask.path, partial(self._ask, ask)) for ask in asks]

    def take(self, header: Header, pieces: Sequence[memoryview]) -> list[Answer]:
        both = zip(header.parts, pieces, strict=True)
        return [_answered(part.path, partial(self._take, part, piece)) for part, piece in both]

    def flush(self) -> None:
        """Bring all that was taken to the disk, from any thread."""
        self._durable.flush()

    def close(self) -> None:
        self._durable.close()
        os.close(self._lock)

    def _ask(self, ask: Ask, where: Place) -> Answer:
        return self._part_of(where).answer(ask, where)

    def _take(self, part: Part, piece: memoryview, where: Place) -> Answer:
        if part.gone and where.parts[2:3] == ("journal",):
            shipped.note_gone(self.home.run(where.run), where.parts[3].removesuffix(".jsonl"))
        return self._part_of(where).take(part, where, piece)

    def _part_of(self, where: Place) -> Streams | Wholes | Once:
        if where.kind == STREAM:
            return self._streams
        return self._once if where.kind in (FACTS, ENTRY) else self._wholes


def _answered(path: str, act: Callable[[Place], Answer]) -> Answer:
    """What is wrong with one file is said of that file, and keeps no other from being taken."""
    where = place(path)
    if where is None:
        return Answer(0, refused=f"{path[:200]!r} is no file of a run.")
    try:
        return act(where)
    except OSError as error:  # a full disk, a directory that nobody may write
        return Answer(0, failed=error.strerror or str(error))
    except PaddockError as error:
        return Answer(0, refused=error.message)


def _exclusive(home: Home) -> int:
    """Two that append to one file would tear each other's lines."""
    path = home.path / "server" / "receiving.lock"
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise HomeError(
            f"Another server receives runs into {home.path}.", hint="Send to that one, or give this one another home."
        ) from None
    except OSError:  # a filesystem without locks
        pass
    return descriptor

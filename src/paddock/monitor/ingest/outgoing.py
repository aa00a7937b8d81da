"""Code that a client asks for: as much of it as one answer holds."""

from __future__ import annotations

from paddock import files
from paddock.errors import UsageError
from paddock.record.layout import Home
from paddock.track.ship import names, parcel

ANSWER_BYTES = 4 << 20  # a client reads no more at once


def packed(home: Home, request: parcel.Fetch) -> bytes:
    """A parcel of what is there, in the order of the question, until it is full; the rest is asked for again. A part
    without a total is of a file that is not here."""
    parts, data, room = [], [], ANSWER_BYTES
    for wanted in request.files:
        place = names.place(wanted.path)
        if place is None or place.kind != names.OBJECT:
            raise UsageError(f"{wanted.path[:200]!r} is no file of a code snapshot.")
        if wanted.at < 0:
            raise UsageError("A part has impossible numbers.")
        if room <= 0:
            break
        found = _read(home, place, wanted.at, room)
        if found is None:
            parts.append(parcel.Part(wanted.path, wanted.at, 0))
            continue
        total, content = found
        parts.append(parcel.Part(wanted.path, wanted.at, len(content), total=total))
        data.append(content)
        room -= len(content)
    return parcel.encode(parcel.Header(parcel.VERSION, parts), data)


def _read(home: Home, place: names.Place, at: int, most: int) -> tuple[int, bytes] | None:
    path = home.path / place.path
    try:
        return path.stat().st_size, files.read_from(path, at, most)
    except OSError:
        return None

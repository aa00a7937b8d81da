"""One request full of bytes: four bytes with the length of a header, the header (JSON), and the bytes that it lists.

Nothing in it is believed before it was checked: lengths are bounded, paths have known shapes, and the sizes that the
header names are exactly the bytes that follow.
"""

from __future__ import annotations

import struct
import zlib
from typing import Any

import msgspec

from paddock import wire
from paddock.errors import UsageError
from paddock.track.ship import names

VERSION = 1
BODY_BYTES = 16 << 20  # that a server takes in one request; what a client sends is a quarter of it
HEADER_BYTES = 1 << 20
PARTS = 4096
_LARGEST = 1 << 60  # of any offset
_LENGTH = struct.Struct(">I")
MEDIA_TYPE = "application/x-paddock-parcel"


class Part(msgspec.Struct, frozen=True, omit_defaults=True):
    """Bytes of one file."""

    path: str
    at: int
    size: int
    before: tuple[int, int] | None = None  # of a stream: how many bytes before `at` were checked, and their CRC-32
    total: int = -1  # of a file that travels whole
    digest: str = ""  # and its SHA-256
    mtime: int = 0  # and when it was changed, in ns
    gone: bool = False  # of a journal: its process has ended


class Header(msgspec.Struct, frozen=True, omit_defaults=True):
    v: int
    parts: list[Part]
    sync: bool = False  # answer when it is on the disk


class Ask(msgspec.Struct, frozen=True, omit_defaults=True):
    """How much of this file do you have?"""

    path: str
    size: int = -1  # of one that travels whole
    mtime: int = 0
    digest: str = ""
    head: tuple[int, int] | None = None  # of a stream: its first bytes, how many and their CRC-32
    skip: int = 0  # and how many of the names that it can have are others' (it was truncated)


class Question(msgspec.Struct, frozen=True, omit_defaults=True):
    v: int
    files: list[Ask]


class Answer(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the server has of a file now."""

    have: int  # bytes; -1: say its digest
    done: bool = False  # of one that travels whole: it is in its place
    kept_as: str = ""  # the path that it is kept under, when its own is taken by other bytes
    conflict: bool = False  # the bytes before differ from what the server has
    refused: str = ""  # why it will never be taken
    failed: str = ""  # why it could not be taken now


class Reply(msgspec.Struct, frozen=True, omit_defaults=True):
    home: str  # the id of the server's home
    files: list[Answer]
    wait: float = 0.0  # seconds that a client should let pass before it comes again
    stamp: int = 0  # of a parcel of one run: another number when there may be something to take back


class Back(msgspec.Struct, frozen=True, omit_defaults=True):
    """What did people say of this run at the server?"""

    v: int
    run: str
    known: list[str] = []  # writers whose journals the client has


class Brought(msgspec.Struct, frozen=True, omit_defaults=True):
    """A small file of the run, whole."""

    path: str  # below the run's directory
    text: str
    private: bool = False  # nobody else may read it


class Wanted(msgspec.Struct, frozen=True, omit_defaults=True):
    """Bytes of a file of a code snapshot, from there on."""

    path: str
    at: int = 0


class Fetch(msgspec.Struct, frozen=True, omit_defaults=True):
    v: int
    files: list[Wanted]


def encode(header: Header, data: list[bytes]) -> bytes:
    head = wire.dumps(header)
    return b"".join((_LENGTH.pack(len(head)), head, *data))


def decode(body: bytes) -> tuple[Header, list[memoryview]]:
    """The header and the bytes of each part, not copied."""
    if len(body) > BODY_BYTES:
        raise UsageError(f"A parcel of {len(body)} bytes is too large.", hint=f"{BODY_BYTES} are taken at once.")
    if len(body) < _LENGTH.size:
        raise UsageError("A parcel begins with the length of its header.")
    (length,) = _LENGTH.unpack_from(body)
    if length > HEADER_BYTES or _LENGTH.size + length > len(body):
        raise UsageError(f"A header of {length} bytes does not fit.")
    header = _read(body[_LENGTH.size : _LENGTH.size + length])
    view, at, found = memoryview(body), _LENGTH.size + length, []
    for part in header.parts:
        _check(part)
        found.append(view[at : at + part.size])
        at += part.size
    if at != len(body):
        raise UsageError(f"The header speaks of {at} bytes, and {len(body)} came.")
    return header, found


def check(asked: Header | Question | Fetch) -> None:
    """What a decoded header or question must be beside."""
    count = len(asked.parts if isinstance(asked, Header) else asked.files)
    if asked.v != VERSION:
        raise UsageError(
            f"Version {asked.v} of the protocol is unknown here; this is version {VERSION}.",
            hint="Use the same version of Paddock on both sides.",
        )
    if count > PARTS:
        raise UsageError(f"{count} files are too many.", hint=f"{PARTS} are taken at once.")


def inflated(body: bytes) -> bytes:
    """A body that was sent deflated; never more than a parcel may have."""
    machine = zlib.decompressobj()
    try:
        found = machine.decompress(body, BODY_BYTES + 1)
    except zlib.error as error:
        raise UsageError(f"The body cannot be inflated ({error}).") from None
    if len(found) > BODY_BYTES or not machine.eof or machine.unused_data:
        raise UsageError("The body is not one deflated parcel.", hint=f"{BODY_BYTES} bytes are taken at once.")
    return found


def _read(data: bytes) -> Header:
    try:
        value: Any = wire.decode(data)
        found = msgspec.convert(value, Header)
    except (wire.DecodeError, UnicodeDecodeError, RecursionError, ValueError) as error:
        raise UsageError(f"The header cannot be read ({error}).") from None
    check(found)
    return found


def _check(part: Part) -> None:
    fits = 0 <= part.size <= BODY_BYTES and 0 <= part.at <= _LARGEST and -1 <= part.total <= _LARGEST
    if not fits or (part.before is not None and not 0 <= part.before[0] <= part.at):
        raise UsageError("A part has impossible numbers.")
    if part.total >= 0 and part.at + part.size > part.total:
        raise UsageError("A part reaches beyond its file.")
    if names.place(part.path) is None:
        raise UsageError(f"{part.path[:200]!r} is no file of a run.")

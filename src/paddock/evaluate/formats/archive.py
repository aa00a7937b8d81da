"""Zip archives: torch.save, Lightning, .npz, .keras. Written in place, from the front; the end record comes last."""

from __future__ import annotations

import struct
from hashlib import blake2b
from typing import NamedTuple

from paddock.evaluate.formats.judgement import Judgement, complete, partial
from paddock.evaluate.origin.look import Look

MAGIC = b"PK\x03\x04"
_END, _END64, _LOCATOR64, _ENTRY = b"PK\x05\x06", b"PK\x06\x06", b"PK\x06\x07", b"PK\x01\x02"
_COMMENT_BYTES = 1 << 16
_MOST_DIRECTORY = 64 << 20  # bytes of a central directory: a million tensors


class Directory(NamedTuple):
    """Where the list of an archive's entries is, and how many there are."""

    start: int
    size: int
    entries: int


def is_archive(look: Look, name: str) -> bool:
    return look.read(name, 0, 4) == MAGIC


def judge(look: Look, name: str = "") -> Judgement:
    size = look.files[name].size
    directory = find_directory(look, name)
    if directory is None:
        return partial(f"{name or look.name} has no end record yet")
    raw = look.read(name, directory.start, min(directory.size, _MOST_DIRECTORY))
    if len(raw) < min(directory.size, _MOST_DIRECTORY):
        return partial(f"{name or look.name} is shorter than its end record says")
    count = 0
    for offset, length in _entries(raw):
        count += 1
        if offset + length > size:
            return partial(f"an entry of {name or look.name} lies beyond its end")
    if count != directory.entries and directory.size <= _MOST_DIRECTORY:
        return partial(f"{name or look.name} lists {count} of {directory.entries} entries")
    return complete("the archive has its end record")


def digest(look: Look, name: str = "") -> str:
    """Of the list of entries, which has a checksum of each: two archives with the same list have the same content.
    Empty when there is none, or when whoever wrote it left the checksums out. torch.save puts everything below a
    directory that is called as the file is, which is no part of the content."""
    directory = find_directory(look, name)
    if directory is None or directory.size > _MOST_DIRECTORY:
        return ""
    raw = look.read(name, directory.start, directory.size)
    if len(raw) < directory.size:
        return ""
    found = _sums(raw)
    if not any(size for _, _, size in found) or any(size and not crc for _, crc, size in found):
        return ""  # torch can be told to leave the checksums out
    tops = {name.partition(b"/")[0] for name, _, _ in found}
    cut = len(tops.pop()) + 1 if len(tops) == 1 and all(b"/" in name for name, _, _ in found) else 0
    lines = (b"%s\0%d\0%d\n" % (name[cut:], crc, size) for name, crc, size in found)
    return blake2b(b"".join(lines), digest_size=16).hexdigest()


def find_directory(look: Look, name: str) -> Directory | None:
    size = look.files[name].size
    tail = look.read(name, -(_COMMENT_BYTES + 22), _COMMENT_BYTES + 22)
    at = tail.rfind(_END)
    while at >= 0:
        if len(tail) - at >= 22:
            entries, length, start, comment = struct.unpack("<10xHIIH", tail[at : at + 22])
            end = size - len(tail) + at
            if end + 22 + comment == size:
                if entries == 0xFFFF or length == 0xFFFFFFFF or start == 0xFFFFFFFF:
                    return _find_directory64(look, name, tail, at)
                return Directory(start, length, entries) if start + length <= end else None
        at = tail.rfind(_END, 0, at)
    return None


def _find_directory64(look: Look, name: str, tail: bytes, at: int) -> Directory | None:
    locator = tail[at - 20 : at] if at >= 20 else b""
    if locator[:4] != _LOCATOR64:
        return None
    (where,) = struct.unpack("<8xQ4x", locator)
    record = look.read(name, where, 56)
    if len(record) < 56 or record[:4] != _END64:
        return None
    entries, length, start = struct.unpack("<32xQQQ", record)
    return Directory(start, length, entries) if start + length <= where else None


def _entries(raw: bytes) -> list[tuple[int, int]]:
    """(where an entry begins, how many bytes it has) for each that the list names in 32 bits; larger ones are counted
    without being checked, because the list itself comes after them."""
    found, at = [], 0
    while raw[at : at + 4] == _ENTRY and len(raw) - at >= 46:
        length, names, extra, comment, offset = struct.unpack("<20xI4xHHH8xI", raw[at : at + 46])
        big = length == 0xFFFFFFFF or offset == 0xFFFFFFFF
        found.append((0, 0) if big else (offset, length))
        at += 46 + names + extra + comment
    return found


def _sums(raw: bytes) -> list[tuple[bytes, int, int]]:
    """The name, the checksum and the size of each entry."""
    found, at = [], 0
    while raw[at : at + 4] == _ENTRY and len(raw) - at >= 46:
        crc, size, names, extra, comment = struct.unpack("<16xI4xIHHH12x", raw[at : at + 46])
        found.append((raw[at + 46 : at + 46 + names], crc, size))
        at += 46 + names + extra + comment
    return found

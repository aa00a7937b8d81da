"""What differs between two code snapshots, file by file."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from paddock.errors import Damaged
from paddock.record.layout import Home
from paddock.record.manifest import Entry, read_manifest
from paddock.record.objects import get_object

_LINES = 20_000  # difflib's cost grows with the square of what differs: beyond this "differs" has to do


class FileDiff(msgspec.Struct, frozen=True):
    path: str
    change: str  # added, removed, changed, mode
    text: str  # a unified diff, or a sentence where there is none: binary, too large, damaged


def diff(home: Home, a: str, b: str, *, context: int = 3) -> list[FileDiff]:
    """The files that are not the same in snapshot `a` and snapshot `b`, sorted by path."""
    if a == b:
        return []
    old, new = read_manifest(home, a), read_manifest(home, b)
    return [
        _compare(home, path, old.get(path), new.get(path), context)
        for path in sorted(old.keys() | new.keys())
        if old.get(path) != new.get(path)
    ]


def _compare(home: Home, path: str, old: Entry | None, new: Entry | None, context: int) -> FileDiff:
    if old and new and old.get("digest") == new.get("digest") and "link" not in old and "link" not in new:
        return FileDiff(path, "mode", f"mode {old.get('mode')} -> {new.get('mode')}\n")
    change = "added" if old is None else "removed" if new is None else "changed"
    try:
        before, after = _content(home, old), _content(home, new)
    except Damaged as error:
        return FileDiff(path, change, f"{change}; {error}\n")
    if _is_binary(before) or _is_binary(after):
        return FileDiff(path, change, f"binary file differs ({len(before)} -> {len(after)} bytes)\n")
    names = ("/dev/null" if old is None else f"a/{path}", "/dev/null" if new is None else f"b/{path}")
    return FileDiff(path, change, _unified(before, after, names, context))


def _content(home: Home, entry: Entry | None) -> bytes:
    if entry is None:
        return b""
    if "link" in entry:
        return f"link to {entry['link']}\n".encode()
    return get_object(home, entry["digest"])


def _is_binary(data: bytes) -> bool:
    return b"\0" in data[:8192]


def _unified(before: bytes, after: bytes, names: tuple[str, str], context: int) -> str:
    old, new = _lines(before), _lines(after)
    if len(old) + len(new) > _LINES and before and after:
        return f"differs ({len(old)} -> {len(new)} lines, too many to compare)\n"
    import difflib

    return "".join(_whole_lines(difflib.unified_diff(old, new, *names, n=context)))


def _lines(data: bytes) -> list[str]:
    # Not str.splitlines(), which also splits at form feeds and other characters that are no line's end here.
    lines = data.decode("utf-8", "backslashreplace").split("\n")
    return [line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def _whole_lines(lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        yield line if line.endswith("\n") else line + "\n\\ No newline at end of file\n"

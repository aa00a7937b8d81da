"""What a run printed, page by page: found from the end or from a place, whatever the size of the file."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import NamedTuple

from paddock.files import open_regular

_BLOCK = 1 << 16
_SEARCHED = 1 << 20

# Everything that drives a terminal: CSI, OSC and the other string sequences, single escapes, control characters.
# Only colours (SGR) are let through, and only to a terminal.
_CONTROL = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"
    r"|\x1b[\]PX^_].*?(?:\x1b\\|\x07|\x9c|$)"
    r"|\x1b[ -/]*[0-~]"
    r"|[\x00-\x08\x0b-\x1f\x7f-\x9f]"
)
_COLOUR = re.compile(r"\x1b\[[0-9;:]*m")


class Page(NamedTuple):
    """`text` is what the file holds from `start` to `end`; both are beginnings of lines where they can be."""

    size: int  # of the file
    start: int
    end: int
    data: bytes


def tail_start(path: Path, lines: int) -> int:
    """The offset at which the last `lines` lines begin, found from the end."""
    with open(path, "rb") as file:
        end = file.seek(0, os.SEEK_END)
        at, missing = end, lines
        while at > 0:
            size = min(_BLOCK, at)
            at -= size
            file.seek(at)
            block = file.read(size)
            if at + size == end and block.endswith(b"\n"):
                missing += 1  # the end of the last line begins no line
            if block.count(b"\n") >= missing:
                place = len(block)
                for _ in range(missing):
                    place = block.rfind(b"\n", 0, place)
                return at + place + 1
            missing -= block.count(b"\n")
    return 0


def after(path: Path, start: int, most: int) -> Page:
    """From a place on. The last line is left for the next page when it does not end in this one, unless it is longer
    than a page, or is the last of the file."""
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        start = min(start, size)
        file.seek(start)
        data = file.read(most)
    if start + len(data) < size and (end := data.rfind(b"\n") + 1):
        data = data[:end]
    return Page(size, start, start + len(data), data)


def before(path: Path, end: int, most: int) -> Page:
    """What comes before a place, from the beginning of a line on."""
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        end = min(end, size)
        start = max(0, end - most)
        file.seek(start)
        data = file.read(end - start)
        if start > 0 and file.seek(start - 1) >= 0 and file.read(1) != b"\n":
            first = data.find(b"\n") + 1
            if 0 < first < len(data):
                start, data = start + first, data[first:]
    return Page(size, start, start + len(data), data)


def last(path: Path, lines: int, most: int) -> Page:
    """The last so many lines, as many of them as fit."""
    start = tail_start(path, lines)
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
    return before(path, size, min(max(size - start, 0), most))


class Hit(NamedTuple):
    """A line that has what was looked for."""

    start: int
    line: bytes


def search(path: Path, needle: bytes, start: int, most: int, reach: int) -> tuple[list[Hit], int | None]:
    """Lines from a place on that have these letters, large or small, and where to go on: None at the end of the file.
    At most `most` lines, and about `reach` bytes are read for it."""
    found: list[Hit] = []
    wanted, stop = needle.lower(), start + reach
    while start < stop:
        page = after(path, start, _SEARCHED)
        if not page.data:
            return found, None
        lowered, at = page.data.lower(), 0
        while (place := lowered.find(wanted, at)) >= 0:
            begin = lowered.rfind(b"\n", 0, place) + 1
            end = lowered.find(b"\n", place)
            end = len(lowered) if end < 0 else end
            found.append(Hit(page.start + begin, page.data[begin:end]))
            if len(found) == most:
                return found, page.start + end + 1
            at = end
        start = page.end
        if start >= page.size:
            return found, None
    return found, start


def clean_line(line: str, colours: bool) -> str:
    """One line as a terminal would show it in the end, and nothing that could drive one."""
    drawn = [part for part in line.rstrip("\r").split("\r") if part]
    text = drawn[-1] if drawn else ""
    if colours and "\x1b" in text:
        kept = _CONTROL.sub(lambda m: m.group() if _COLOUR.fullmatch(m.group()) else "", text)
        return kept + ("\x1b[0m" if "\x1b[" in kept else "")
    return _CONTROL.sub("", text)

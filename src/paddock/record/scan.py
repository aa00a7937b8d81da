"""Reading journals: whole lines only, each checked by itself; what is damaged is counted and skipped."""

from __future__ import annotations

import gzip
import math
import os
import stat
from collections.abc import Iterator, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

from paddock import wire

Row = list[Any]  # [columns id, step, milliseconds since the journal was opened, value..., crc]
TEN_DIGITS = 999_999_999  # three checksums in four are larger: their length need not be looked for


class Rows(NamedTuple):
    """Rows of one column set and one length, turned into columns: the steps, the milliseconds, then each metric."""

    id: int
    columns: Sequence[Sequence[Any]]
    places: Sequence[int]  # of each among all rows of the stretch: which of two in different sets was written later


class Chunk(NamedTuple):
    """What a stretch of a journal says."""

    tables: list[Rows]
    records: list[dict[str, Any]]  # everything else, in order
    size: int  # bytes up to the last line's end; the next read starts behind them
    lines: int
    rows: int  # lines that are rows, or were
    damaged: int  # lines that were skipped
    torn: int  # bytes of an unfinished last line


def parse(data: bytes) -> Chunk:
    size = data.rfind(b"\n") + 1
    torn = len(data) - size
    if size == 0:
        return Chunk([], [], 0, 0, 0, 0, torn)
    whole = data if not torn else data[:size]
    rows, others = _separated(whole)
    records, damaged = _checked_records(others)
    tables: list[Rows] = []
    count = 0
    for group, lines, places in _by_columns(rows):
        count += len(lines)
        table = _at_once(group, lines, places)
        if table is not None:
            tables.append(table)
        else:
            found, bad = _one_by_one(lines, places)
            tables += found
            damaged += bad
    return Chunk(tables, records, size, len(others) + count, count, damaged, torn)


def _separated(whole: bytes) -> tuple[bytes, list[bytes]]:
    """The rows, still in one piece, and the lines that are records: those are few, so `find` leaps to the next."""
    pieces, records, start, size = [], [], 0, len(whole)
    while start < size:
        if whole.startswith(b"{", start):
            end = whole.index(b"\n", start)
            records.append(whole[start:end])
            start = end + 1
            continue
        end = whole.find(b"\n{", start) + 1 or size
        pieces.append(whole[start:end])
        start = end
    return b"".join(pieces), records


def _by_columns(rows: bytes) -> list[tuple[bytes, list[bytes], Sequence[int]]]:
    """Rows grouped by how they begin, `[3,`: each group in one piece, as lines, and where each line was."""
    lines = rows.split(b"\n")
    lines.pop()
    if not lines:
        return []
    head = lines[0][: lines[0].find(b",") + 1]
    if head and rows.count(b"\n" + head) == len(lines) - 1:
        return [(rows, lines, range(len(lines)))]
    groups: dict[bytes, tuple[list[bytes], list[int]]] = {}
    for place, line in enumerate(lines):
        head = line[: line.find(b",") + 1]
        group = groups.get(head)
        if group is None:
            group = groups[head] = [], []
        group[0].append(line)
        group[1].append(place)
    return [(b"\n".join(found) + b"\n", found, places) for found, places in groups.values()]


def _at_once(group: bytes, lines: list[bytes], places: Sequence[int]) -> Rows | None:
    """Rows of one kind, decoded as one long list and cut into columns by its stride, with no Python step per value.

    Where anything is not as it should be (a length, a checksum), None: then each line is judged by itself. That each
    checksum is found at its place proves the stride.
    """
    try:
        flat = wire.decode(group.replace(b"]\n[", b","))
    except (wire.DecodeError, UnicodeDecodeError):
        return None
    width, rest = divmod(len(flat), len(lines))
    if rest or width < 4 or type(flat[0]) is not int:
        return None
    sums = flat[width - 1 :: width]
    try:
        bodies = [
            line[:-12] if total > TEN_DIGITS else line[: line.rfind(b",")]
            for line, total in zip(lines, sums, strict=True)
        ]
    except TypeError:
        return None
    if [*map(crc32, bodies)] != sums:
        return None
    return Rows(flat[0], [flat[i::width] for i in range(1, width - 1)], places)


def _one_by_one(lines: list[bytes], places: Sequence[int]) -> tuple[list[Rows], int]:
    """The careful way, for a stretch with something broken in it, or with rows of several lengths."""
    groups: dict[tuple[int, int], tuple[list[Row], list[int]]] = {}
    damaged = 0
    for line, place in zip(lines, places, strict=True):
        if not line.strip(b"\0\r\t "):  # a hole left by a crashed filesystem, or a blank line
            damaged += b"\0" in line
            continue
        value = wire.read_line(line)
        if type(value) is list and type(value[0]) is int:
            rows, where = groups.setdefault((value[0], len(value)), ([], []))
            rows.append(value)
            where.append(place)
        else:
            damaged += 1
    found = [Rows(key[0], list(zip(*rows, strict=True))[1:-1], where) for key, (rows, where) in groups.items()]
    return found, damaged


def _checked_records(lines: list[bytes]) -> tuple[list[dict[str, Any]], int]:
    found = [value for line in lines if type(value := wire.read_line(line)) is dict]
    return found, len(lines) - len(found)


class JournalFile(NamedTuple):
    """A journal as it lies in a run's directory, growing or packed."""

    writer: str
    path: str
    size: int
    packed: bool
    inode: int = 0


PLAIN, PACKED = ".jsonl", ".jsonl.gz"


def journal_files(directory: Path | str) -> list[JournalFile]:
    """The journals of a run. Of one that is there both plain and packed, the plain one counts: packing removes it
    only after the packed one has been read back."""
    found: dict[str, JournalFile] = {}
    try:
        scan = os.scandir(directory)
    except (FileNotFoundError, NotADirectoryError):
        return []
    with scan:
        for entry in scan:
            name = entry.name
            if name.startswith("."):
                continue
            packed = name.endswith(PACKED)
            if not packed and not name.endswith(PLAIN):
                continue
            try:
                about = entry.stat()
            except OSError:  # removed since it was listed, or a link to nowhere
                continue
            if not stat.S_ISREG(about.st_mode):  # opening a pipe would wait for ever
                continue
            writer = name.removesuffix(PACKED if packed else PLAIN)
            if not packed or writer not in found:
                found[writer] = JournalFile(writer, entry.path, about.st_size, packed, about.st_ino)
    return sorted(found.values())


def read_journal(file: JournalFile, offset: int = 0, limit: int = -1) -> bytes:
    """The journal's bytes from `offset`, which for a packed one is an offset into what was packed."""
    opened: Any = gzip.open(file.path, "rb") if file.packed else open(file.path, "rb", buffering=0)  # noqa: SIM115
    with opened:
        if offset:
            opened.seek(offset)
        return bytes(opened.read(limit) if limit >= 0 else opened.read())


def header(path: Path | str, packed: bool = False) -> dict[str, Any]:
    """A journal's first record, empty when there is none yet or it is damaged."""
    line = read_journal(JournalFile("", str(path), 0, packed), 0, 65536).partition(b"\n")
    value = wire.read_line(line[0]) if line[1] else None
    return value if isinstance(value, dict) and value.get("k") == "open" else {}


def records_of(directory: Path | str, kinds: tuple[str, ...]) -> list[dict[str, Any]]:
    """All records of some kinds, the last word last: by attempt, whatever the clocks say, then by time; what a person
    said comes after all attempts. Rows are passed over without being decoded."""
    starts = tuple(f'{{"k":"{kind}"'.encode() for kind in kinds)
    found: list[tuple[float, float, dict[str, Any]]] = []
    for file in journal_files(directory):
        about = header(file.path, file.packed)
        attempt = math.inf if about.get("role") == "annotation" else max(_number(about.get("attempt")), 1.0)
        for line in lines_of(file, starts):
            value = wire.read_line(line)
            if isinstance(value, dict):
                found.append((attempt, _number(value.get("t")), value))
    return [record for _, _, record in sorted(found, key=itemgetter(0, 1))]


def _number(value: Any) -> float:
    try:
        return float(value) if type(value) in (int, float) else 0.0
    except OverflowError:
        return 0.0


def lines_of(file: JournalFile, starts: tuple[bytes, ...]) -> Iterator[bytes]:
    """Whole lines that begin so, a megabyte at a time: a journal may be larger than the memory."""
    rest = b""
    opened: Any = gzip.open(file.path, "rb") if file.packed else open(file.path, "rb", buffering=0)  # noqa: SIM115
    with opened:
        while piece := opened.read(1 << 20):
            *whole, rest = (rest + piece).split(b"\n")
            yield from (line for line in whole if line.startswith(starts))


def last_step(file: JournalFile) -> int | None:
    """The step of the last row, read from the journal's end."""
    if file.packed:
        data = read_journal(file)
        return _last_step(data)
    reach = 65536
    while True:
        start = max(0, file.size - reach)
        found = _last_step(read_journal(file, start))
        if found is not None or start == 0:
            return found
        reach *= 8


def _last_step(data: bytes) -> int | None:
    for line in reversed(data.split(b"\n")[:-1]):
        if line.startswith(b"["):
            value = wire.read_line(line)
            if isinstance(value, list) and isinstance(value[1], int):
                return value[1]
    return None

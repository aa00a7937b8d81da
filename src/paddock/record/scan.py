"""Reading journals: whole lines only, each checked by itself; what is damaged is counted and skipped."""

from __future__ import annotations

import gc
import gzip
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

from paddock import wire

_first, _last = itemgetter(0), itemgetter(-1)
Row = list[Any]  # [columns id, step, milliseconds since the journal was opened, value..., crc]


class Chunk(NamedTuple):
    """What a stretch of a journal says."""

    tables: dict[int, list[Row]]  # rows by the id of their columns, in the order they were written
    records: list[dict[str, Any]]  # everything else, in order
    size: int  # bytes up to the last line's end; the next read starts behind them
    lines: int
    damaged: int  # lines that were skipped
    torn: int  # bytes of an unfinished last line


def parse(data: bytes) -> Chunk:
    size = data.rfind(b"\n") + 1
    torn = len(data) - size
    if size == 0:
        return Chunk({}, [], 0, 0, 0, torn)
    whole = data if not torn else data[:size]
    with _no_collector():
        lines = whole.split(b"\n")
        lines.pop()
        try:
            values = wire.decode_lines(whole)
        except (wire.DecodeError, UnicodeDecodeError):
            return _parse_each(lines, size, torn)
        if len(values) != len(lines):  # blank lines
            return _parse_each(lines, size, torn)
        sums = [*map(crc32, [line[: line.rfind(b",")] for line in lines])]
        # Records are few among rows: take them out, and what is left is all rows.
        others = [i for i, value in enumerate(values) if type(value) is not list]
        records, damaged = _checked_records([(values[i], sums[i]) for i in others])
        for i in reversed(others):
            del values[i], sums[i]
        tables, bad = _checked_rows(values, sums)
        damaged += bad
    return Chunk(tables, records, size, len(lines), damaged, torn)


def _checked_records(found: list[tuple[Any, int]]) -> tuple[list[dict[str, Any]], int]:
    records: list[dict[str, Any]] = []
    for value, total in found:
        if type(value) is dict and value.pop("crc", None) == total and "k" in value:
            records.append(value)
    return records, len(found) - len(records)


def _checked_rows(rows: list[Row], sums: list[int]) -> tuple[dict[int, list[Row]], int]:
    """Rows by the id of their columns. Almost always they are all whole and of one kind: that is asked first, in a few
    calls for all of them, and only otherwise of each."""
    if not rows:
        return {}, 0
    if min(map(len, rows)) >= 4 and [*map(_last, rows)] == sums:
        ids = [*map(_first, rows)]
        if type(ids[0]) is int and ids.count(ids[0]) == len(ids):
            return {ids[0]: rows}, 0
    tables: dict[int, list[Row]] = {}
    damaged = 0
    for row, total in zip(rows, sums, strict=True):
        if len(row) >= 4 and row[-1] == total and type(row[0]) is int:
            try:
                tables[row[0]].append(row)
            except KeyError:
                tables[row[0]] = [row]
        else:
            damaged += 1
    return tables, damaged


def _parse_each(lines: list[bytes], size: int, torn: int) -> Chunk:
    """The careful way, for a stretch with something broken in it."""
    tables: dict[int, list[Row]] = {}
    records: list[dict[str, Any]] = []
    damaged = 0
    for line in lines:
        if not line.strip(b"\0\r\t "):  # a hole left by a crashed filesystem, or a blank line
            damaged += b"\0" in line
            continue
        value = wire.read_line(line)
        if type(value) is list and type(value[0]) is int:
            tables.setdefault(value[0], []).append(value)
        elif type(value) is dict:
            records.append(value)
        else:
            damaged += 1
    return Chunk(tables, records, size, len(lines), damaged, torn)


@contextmanager
def _no_collector() -> Iterator[None]:
    """Decoding makes a hundred thousand lists that are all kept: looking for cycles among them doubles the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


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
                found[writer] = JournalFile(writer, entry.path, about.st_size, packed, entry.inode())
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
    """All records of some kinds, in order of time. Rows are passed over without being decoded."""
    starts = tuple(f'{{"k":"{kind}"'.encode() for kind in kinds)
    found: list[dict[str, Any]] = []
    for file in journal_files(directory):
        for line in _lines(file):
            if line.startswith(starts):
                value = wire.read_line(line)
                if isinstance(value, dict):
                    found.append(value)
    return sorted(found, key=lambda record: float(record.get("t") or 0))


def _lines(file: JournalFile) -> Iterator[bytes]:
    """Whole lines, a megabyte at a time: a journal may be larger than the memory."""
    rest = b""
    opened: Any = gzip.open(file.path, "rb") if file.packed else open(file.path, "rb", buffering=0)  # noqa: SIM115
    with opened:
        while piece := opened.read(1 << 20):
            *whole, rest = (rest + piece).split(b"\n")
            yield from whole


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

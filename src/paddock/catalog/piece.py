"""A stretch of a journal, read and turned into tables, in a form that goes from one process to another."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple
from zlib import crc32

from paddock.catalog.blocks import Lines, Mark, Table, shifted, tabulate
from paddock.catalog.writer import HEAD_BYTES, Seen, fits, note_open
from paddock.record.scan import parse

PIECE_BYTES = 1 << 17  # decoding is fastest on pieces that stay in the processor's cache


class Piece(NamedTuple):
    size: int
    checksum: int  # of the journal up to here
    head: int  # of its first bytes; for the first piece
    lines: int
    rows: int
    damaged: int
    records: list[dict[str, Any]]
    tables: list[tuple[int, Table]]  # with the number of their columns


def read_pieces(stream: BinaryIO) -> Iterator[Piece]:
    """A journal from its beginning to the last whole line. It ends early where the tables would need to be told more
    than the journal itself says (when it was opened): whoever asked reads on from there."""
    seen, data, reach, checksum, rows, first = Seen(""), b"", PIECE_BYTES, 0, 0, True
    while True:
        wanted = reach
        piece = stream.read(wanted)
        data = data + piece if data else piece
        chunk = parse(data)
        if chunk.size:
            whole = data[: chunk.size] if chunk.torn else data
            checksum = crc32(whole, checksum)
            for record in chunk.records:
                if record["k"] == "open":
                    note_open(seen, record, "")
            if chunk.tables and not seen.started:
                return
            tables = []
            for table in chunk.tables:
                if fits(table.id):
                    lines = shifted(table.places, rows)
                    made = tabulate(table.columns, len(table.columns) - 2, seen.started, lines)
                else:
                    made = tabulate(((), ()), 0, 0.0, ())._replace(damaged=len(table.columns[0]))
                tables.append((table.id, made))
            head = crc32(whole[:HEAD_BYTES]) if first else 0
            yield Piece(chunk.size, checksum, head, chunk.lines, chunk.rows, chunk.damaged, chunk.records, tables)
            rows += chunk.rows
            first = False
        elif piece:
            reach *= 2  # a line longer than a piece
        data = data[chunk.size :]
        if len(piece) < wanted:
            return


def packed(piece: Piece) -> tuple[Any, ...]:
    """In plain values, which `marshal` writes as fast as they are copied."""
    return (*piece[:-1], [(number, _packed_table(table)) for number, table in piece.tables])


def unpacked(plain: tuple[Any, ...]) -> Piece:
    return Piece._make((*plain[:-1], [(number, _unpacked_table(*table)) for number, table in plain[-1]]))


def _packed_table(table: Table) -> tuple[Any, ...]:
    lines = table.lines
    where = (lines.start, lines.stop) if isinstance(lines, range) else lines.tobytes()
    values = [(column.typecode, column.tobytes()) for column in table.values]
    marks = [tuple(mark) for mark in table.marks]
    return (
        *(table.steps.tobytes(), table.times.tobytes(), where, values, marks),
        *(table.rising, table.damaged, table.latest),
    )


def _unpacked_table(
    steps: bytes,
    times: bytes,
    where: tuple[int, int] | bytes,
    values: list[tuple[str, bytes]],
    marks: list[tuple[Any, ...]],
    *rest: Any,
) -> Table:
    lines: Lines = range(*where) if isinstance(where, tuple) else array("q", where)
    columns = [array(kind, data) for kind, data in values]
    return Table(array("q", steps), array("d", times), lines, columns, [Mark(*mark) for mark in marks], *rest)

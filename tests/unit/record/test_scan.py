"""Reading a stretch of a journal: rows of every kind become columns, whichever way they have to be read."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from paddock import wire
from paddock.record.scan import parse

VALUES = st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False, allow_infinity=False))
ROW = st.tuples(st.integers(0, 3), st.integers(0, 10**6), st.integers(0, 10**6), st.lists(VALUES, min_size=1))


def _rows(data: bytes) -> list[tuple[Any, ...]]:
    return sorted(((rows.id, *row) for rows in parse(data).tables for row in zip(*rows.columns, strict=True)), key=repr)


def _flat(row: tuple[int, int, int, list[Any]]) -> list[Any]:
    return [*row[:3], *row[3]]


@given(st.lists(ROW), st.lists(st.integers(0, 50)))
def test_rows_and_records_come_back_whatever_their_order_ids_and_lengths(rows: list[Any], places: list[int]) -> None:
    lines = [wire.row_line(_flat(row)) for row in rows]
    for number, place in enumerate(places):
        lines.insert(place, wire.record_line({"k": "mark", "n": number}))
    found = parse(b"".join(lines))
    assert _rows(b"".join(lines)) == sorted((tuple(_flat(row)) for row in rows), key=repr)
    assert sorted(record["n"] for record in found.records) == list(range(len(places)))
    assert (found.lines, found.damaged, found.torn) == (len(lines), 0, 0)


def test_every_length_of_a_checksum_is_read() -> None:
    lines = [wire.row_line([0, step, step, step / 7]) for step in range(20_000)]
    lengths = {len(line.rsplit(b",")[-1]) for line in lines}
    assert len(lengths) >= 4  # `]`, the line's end, and 7 to 10 digits
    found = parse(b"".join(lines))
    assert found.damaged == 0
    assert list(found.tables[0].columns[0]) == list(range(20_000))


def test_a_line_with_one_value_more_beside_one_with_one_less_is_not_shifted() -> None:
    lines = [wire.row_line([0, 1, 1, 0.1, 0.2]), wire.row_line([0, 2, 2, 0.3]), wire.row_line([0, 3, 3, 0.4, 0.5, 0.6])]
    assert _rows(b"".join(lines)) == [(0, 1, 1, 0.1, 0.2), (0, 2, 2, 0.3), (0, 3, 3, 0.4, 0.5, 0.6)]


def test_a_changed_digit_costs_its_line() -> None:
    lines = [wire.row_line([0, step, step, 0.25]) for step in range(100)]
    lines[50] = lines[50].replace(b"0.25", b"0.35")
    found = parse(b"".join(lines))
    assert found.damaged == 1
    assert len(found.tables[0].columns[0]) == 99

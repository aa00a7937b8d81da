"""Amounts as people write them: time spans and memory."""

from __future__ import annotations

from datetime import timedelta

import pytest

from paddock.amounts import parse_bytes, parse_seconds
from paddock.errors import UsageError


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90", 90),
        ("0", 0),
        ("0.5", 0.5),
        (".5h", 1800),
        ("200ms", 0.2),
        ("1s500ms", 1.5),
        ("90s", 90),
        ("1.5h", 5400),
        ("1h30m", 5400),
        ("1h 30m", 5400),
        ("2D", 172_800),
        ("1w", 604_800),
        ("2 hours", 7200),
        ("5min", 300),
        ("1 minute 10 seconds", 70),
        ("30:00", 1800),
        ("4:00:00", 14_400),
        ("1-00:00:00", 86_400),
        ("1-12:30", 86_400 + 12 * 3600 + 30 * 60),
        ("1-12", 86_400 + 12 * 3600),
    ],
)
def test_a_time_span_is_read_as_people_and_slurm_write_it(text: str, seconds: float) -> None:
    assert parse_seconds(text) == pytest.approx(seconds)


@pytest.mark.parametrize("given", [5, 0.00001, 1e16, timedelta(seconds=5)])
def test_a_number_is_seconds_however_python_prints_it(given: float | timedelta) -> None:
    assert parse_seconds(given) == (given.total_seconds() if isinstance(given, timedelta) else given)


def test_nothing_is_no_time_at_all() -> None:
    assert parse_seconds(None) == 0


@pytest.mark.parametrize(
    "given",
    [
        *("", " ", "soon", "-5", "1h30", "90 30", "5x", "5msx", "1:75", "1:2:3:4", "h", "1e3", "nan", "1..5h"),
        *(-1, float("nan"), float("inf"), True, timedelta(seconds=-1), b"5", [5]),
    ],
)
def test_anything_else_is_an_error_that_names_the_forms(given: object) -> None:
    with pytest.raises(UsageError, match="is no time span") as caught:
        parse_seconds(given)  # type: ignore[arg-type]
    for form in ("200ms", "1.5h", "1h30m", "4:00:00", "1-00:00:00"):
        assert form in caught.value.hint


@pytest.mark.parametrize(
    ("given", "size"), [("8G", 8 << 30), ("512M", 512 << 20), ("1.5k", 1536), (7, 7), ("2 GiB", 2 << 30)]
)
def test_memory_is_read_in_powers_of_1024(given: int | str, size: int) -> None:
    assert parse_bytes(given) == size

from __future__ import annotations

import math

import pytest

from paddock.compare.stats import summarize
from paddock.compare.text import age, clean, cut_to, mean_std, moment, number, plain_table, size, span, width


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3, "3"),
        (0.1 + 0.2, "0.3"),
        (1e-7, "1e-07"),
        (123456.789, "123457"),
        (1794788722.5, "1794788722"),
        (1e20, "1e+20"),
        (math.nan, "nan"),
        (-math.inf, "-inf"),
        (2.0, "2"),
    ],
)
def test_numbers_are_short(value, text):
    assert number(value) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.05, "0.1s"), (59, "59s"), (200, "3m20s"), (7500, "2h05m"), (273_600, "3d04h")]
)
def test_durations_have_two_units(seconds, text):
    assert span(seconds) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(-3, "0s ago"), (90, "1m ago"), (7200, "2h ago"), (86400 * 59, "59d ago"), (86400 * 70, "10w ago")],
)
def test_ages_have_one_unit(seconds, text):
    assert age(seconds) == text


def test_sizes_have_a_unit():
    assert [size(n) for n in (0, 999, 1500, 2_000_000, 3e9, 4e15)] == [
        "0 B",
        "999 B",
        "1.5 KB",
        "2.0 MB",
        "3.0 GB",
        "4000.0 TB",
    ]


def test_control_characters_are_written_out():
    assert clean("a\x1b[31m\n\u202e\ud800é") == "a\\x1b[31m\\n\\u202e\\ud800é"


def test_columns_line_up_also_with_wide_characters():
    lines = plain_table(["name", "n"], [["日本", "1"], ["abcdef", "22"]], [False, True]).split("\n")
    assert [width(line) for line in lines] == [10, 10, 10]


def test_a_text_is_cut_at_the_room_it_has():
    assert cut_to("abcdef", 6) == "abcdef"
    assert cut_to("abcdefg", 6) == "abcde…"
    assert width(cut_to("日本語日本語", 6)) <= 6


def test_mean_and_spread_say_what_is_missing():
    assert mean_std(summarize([1.0, 2.0])) == "1.5 ± 0.71"
    assert mean_std(summarize([1.0])) == "1"
    assert mean_std(summarize([math.nan, 1.0])) == "1 (1 NaN)"
    assert mean_std(summarize([math.nan])) == "(1 NaN)"
    assert mean_std(summarize([])) == ""


@pytest.mark.parametrize("seconds", [1e300, -1e300, 1e12, -1e12, math.inf, math.nan])
def test_a_time_beyond_the_calendar_is_shown_as_it_is(seconds):
    assert moment(seconds) == f"{seconds:g} s after 1970"
    assert (age(seconds), span(seconds)) == ("?", "?")

"""Values as people read them, and tables of them in plain text or HTML."""

from __future__ import annotations

import functools
import html
import math
import re
import unicodedata
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from paddock.compare.fields import MISSING, TIME_FIELDS, text_of
from paddock.compare.stats import Summary

# C0 and C1 controls, and what reverses or hides text: a run's name must not be able to drive the terminal.
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2028\u2029\u2066-\u2069\ufeff]|[\ud800-\udfff]")


_DAY = 86_400  # seconds
_BEYOND = 1e11  # seconds, three thousand years: no run is that old, so its clock or its record is wrong


def clean(text: str) -> str:
    """The text with every control character written out: \\n, \\x1b."""
    return _CONTROL.sub(lambda match: repr(match.group())[1:-1], text)


def number(value: float) -> str:
    """Five digits are enough to compare; --json and data frames have them all."""
    if isinstance(value, int) or math.isnan(value) or math.isinf(value):
        return str(value)
    if 10_000 <= abs(value) < 1e15:
        return f"{value:.0f}"
    return f"{value:.5g}"


def cell(value: Any) -> str:
    """Any value of a run as one line."""
    if value is MISSING:
        return ""
    if isinstance(value, bool) or value is None:
        return text_of(value)
    if isinstance(value, (int, float)):
        return number(value)
    return clean(text_of(value))


def field_cell(key: str, value: Any, now: float) -> str:
    """Like `cell`, for a column: times as ages, durations in units."""
    if value is MISSING:
        return ""
    if key in TIME_FIELDS:
        return "" if not value else age(now - value)
    if key in ("duration", "age"):
        return span(value)
    if key in ("star", "bug"):
        return ({"star": "*", "bug": "!"}[key]) if value else ""
    if value is None or value == ():
        return "" if not key.startswith("config.") else cell(value)
    if key in ("damaged", "dropped", "alerts") and value == 0:
        return ""
    return cell(value)


def span(seconds: float) -> str:
    """1.2s, 45s, 3m20s, 2h05m, 3d04h."""
    if not abs(seconds) < _BEYOND:
        return "?"
    if seconds < 10:
        return f"{seconds:.1f}s"
    whole = int(seconds)
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m{whole % 60:02d}s"
    if whole < _DAY:
        return f"{whole // 3600}h{whole % 3600 // 60:02d}m"
    return f"{whole // _DAY}d{whole % _DAY // 3600:02d}h"


def age(seconds: float) -> str:
    """How long ago, in one unit."""
    if not abs(seconds) < _BEYOND:
        return "?"
    if seconds < 60:
        return f"{max(0, int(seconds))}s ago"
    for unit, each, limit in (("m", 60, 3600), ("h", 3600, _DAY), ("d", _DAY, 60 * _DAY)):
        if seconds < limit:
            return f"{int(seconds // each)}{unit} ago"
    return f"{int(seconds // (7 * _DAY))}w ago"


def moment(seconds: float) -> str:
    try:
        return datetime.fromtimestamp(seconds).strftime("%Y-%m-%d %H:%M:%S")
    except (ValueError, OverflowError, OSError):  # beyond the calendar: what was written may be anything
        return f"{seconds:g} s after 1970"


def size(count: float) -> str:
    for unit in ("B", "KB", "MB", "GB"):
        if abs(count) < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"


def many(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def mean_std(summary: Summary) -> str:
    """0.912 ± 0.004; one number alone has no ±; NaNs are said."""
    if summary.mean is None:
        text = ""
    elif summary.std is None:
        text = number(summary.mean)
    else:
        text = f"{number(summary.mean)} ± {summary.std:.2g}"
    return f"{text} ({summary.nan} NaN)".strip() if summary.nan else text


def width(text: str) -> int:
    """Columns on a terminal."""
    if text.isascii():
        return len(text)
    return sum(map(_columns, text))


@functools.lru_cache(maxsize=4096)
def _columns(char: str) -> int:
    if unicodedata.category(char) in ("Mn", "Me"):  # accents, and what chooses between the pictures of one emoji
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def cut_to(text: str, room: int) -> str:
    """The text, or its beginning and an ellipsis, in at most `room` columns."""
    if width(text) <= room:
        return text
    kept = text[: max(0, room - 1)]
    while kept and width(kept) > room - 1:
        kept = kept[:-1]
    return kept + "…"


def path_end(text: str, room: int) -> str:
    """The end of a path says more than its beginning."""
    return text if width(text) <= room else "…" + cut_to(text[::-1], room)[:-1][::-1]


def aligned(rows: Sequence[Sequence[str]], right: Sequence[bool]) -> list[list[str]]:
    """Every cell padded to the width of its column."""
    widths = [max(width(row[i]) for row in rows) for i in range(len(right))]
    return [
        [
            " " * (wide - width(text)) + text if side else text + " " * (wide - width(text))
            for text, wide, side in zip(row, widths, right, strict=True)
        ]
        for row in rows
    ]


def plain_table(headers: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[bool] = ()) -> str:
    """Aligned columns, two spaces between them, nothing cut off."""
    lines = aligned([headers, *rows], list(right) or [False] * len(headers))
    return "\n".join("  ".join(line).rstrip() for line in lines)


def html_table(headers: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[bool] = ()) -> str:
    sides = list(right) or [False] * len(headers)

    def cells(tag: str, row: Sequence[str]) -> str:
        return "".join(
            f'<{tag} style="text-align:{"right" if side else "left"}">{html.escape(text)}</{tag}>'
            for text, side in zip(row, sides, strict=True)
        )

    body = "".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
    return f"<table><thead><tr>{cells('th', headers)}</tr></thead><tbody>{body}</tbody></table>"


def is_numeric(values: Sequence[Any]) -> bool:
    """Should this column stand on the right?"""
    found = [v for v in values if v is not MISSING and v is not None]
    return bool(found) and all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in found)

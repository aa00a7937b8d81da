"""Amounts as people write them.

Time spans: 200ms, 90, 1.5h, 1h30m, and as Slurm does 4:00:00, 1-00:00:00. Memory: 8G, 512M.
"""

from __future__ import annotations

import math
import re
from datetime import timedelta

from paddock.errors import UsageError

UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0, "w": 604_800.0}  # seconds
FORMS = "Write 90 or 90s, 200ms, 30m, 1.5h, 1h30m, 2d, 1w, or as Slurm does 4:00:00 or 1-00:00:00."
_NUMBER = r"\d{1,15}(?:\.\d{0,15})?|\.\d{1,15}"
_WORDS = {
    "ms": r"ms|msecs?|milliseconds?",
    "s": r"s|secs?|seconds?",
    "m": r"m|mins?|minutes?",
    "h": r"h|hrs?|hours?",
    "d": r"d|days?",
    "w": r"w|weeks?",
}
_PART = re.compile(rf"({_NUMBER})\s*(?:{'|'.join(f'(?P<{unit}>{words})' for unit, words in _WORDS.items())})(?![a-z])")
_PARTS = re.compile(rf"(?:(?:{_NUMBER})\s*(?:{'|'.join(_WORDS.values())})(?![a-z])\s*)+")
# Slurm's: minutes:seconds, hours:minutes:seconds, days-hours, days-hours:minutes, days-hours:minutes:seconds
_CLOCK = re.compile(r"(\d{1,9}):([0-5]?\d)(?::([0-5]?\d))?")
_DAYS = re.compile(r"(\d{1,6})-(\d{1,9})(?::([0-5]?\d)(?::([0-5]?\d))?)?")


def seconds_in(text: str) -> float | None:
    """None when it is no time span."""
    text = text.strip().lower()
    if re.fullmatch(_NUMBER, text):
        return float(text)
    if _PARTS.fullmatch(text):  # each number with its unit: in 1h30 nobody knows which one is meant
        return sum(float(part[1]) * UNITS[part.lastgroup or ""] for part in _PART.finditer(text))
    if clock := _CLOCK.fullmatch(text):
        first, second = int(clock[1]), int(clock[2])
        return float(first * 60 + second if clock[3] is None else first * 3600 + second * 60 + int(clock[3]))
    if days := _DAYS.fullmatch(text):
        return float(int(days[1]) * 86_400 + int(days[2]) * 3600 + int(days[3] or 0) * 60 + int(days[4] or 0))
    return None


def parse_seconds(value: float | str | timedelta | None) -> float:
    """Seconds as a number, or a time span as a text; None is 0. UsageError, with the accepted forms, for all else."""
    if value is None:
        return 0.0
    if isinstance(value, timedelta):
        value = value.total_seconds()
    if isinstance(value, str):
        found = seconds_in(value)
    else:
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        found = float(value) if is_number and math.isfinite(value) and value >= 0 else None
    if found is None:
        raise UsageError(f"{value!r} is no time span.", hint=FORMS)
    return found


def as_given(value: float | str | timedelta | None) -> str:
    """For a sentence: 90 as 90 s, all else as it was written."""
    return f"{value:g} s" if isinstance(value, (int, float)) else str(value)


_BYTES = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


def bytes_in(text: str) -> int | None:
    """None when it is no amount of memory."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)i?b?\s*", text.lower())
    return int(float(match[1]) * _BYTES[match[2]]) if match is not None else None


def parse_bytes(value: int | str) -> int:
    found = bytes_in(str(value))
    if found is None:
        raise UsageError(f"{value!r} is no amount of memory.", hint="Write 8G, 512M or a number of bytes.")
    return found

"""Dates, ages and durations as people type them."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import NamedTuple

UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}  # seconds
_PART = re.compile(r"(\d+(?:\.\d+)?)(s|m|h|d|w)")
_DURATION = re.compile(r"(?:\d+(?:\.\d+)?(?:s|m|h|d|w))+")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?(Z|[+-]\d{2}:\d{2})?)?")


class Moment(NamedTuple):
    """A stretch of time in seconds since the epoch: a day lasts until the next one, an age is one instant."""

    start: float
    end: float


def parse_duration(text: str) -> float | None:
    """Seconds: 90, 90s, 15m, 1h30m, 2d, 1w."""
    if _DURATION.fullmatch(text):
        return sum(float(number) * UNITS[unit] for number, unit in _PART.findall(text))
    if re.fullmatch(r"\d{1,15}(\.\d{1,15})?", text):
        return float(text)
    return None


def parse_moment(text: str, now: float) -> Moment | None:
    """A date, a date and time, today, yesterday; or an age, which means that long before now."""
    if text in ("today", "yesterday"):
        day = datetime.fromtimestamp(now).replace(hour=0, minute=0, second=0, microsecond=0)
        return _day(day if text == "today" else day - timedelta(days=1))
    if _DURATION.fullmatch(text):
        instant = now - (parse_duration(text) or 0.0)
        return Moment(instant, instant)
    if not _DATE.fullmatch(text):
        return None
    try:
        when = datetime.fromisoformat(text)
        if len(text) == 10:
            return _day(when)
        start = when.timestamp()
    except (ValueError, OverflowError, OSError):  # the 31st of February, the year 0001
        return None
    return Moment(start, start + (60 if len(text) == 16 else 1))


def _day(day: datetime) -> Moment | None:
    try:
        return Moment(day.timestamp(), (day + timedelta(days=1)).timestamp())
    except (ValueError, OverflowError, OSError):
        return None

"""Dates and ages as people type them."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import NamedTuple

from paddock.amounts import seconds_in

_AGE = re.compile(r"(?:[\d.]+(?:ms|s|m|h|d|w))+")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?(Z|[+-]\d{2}:\d{2})?)?")


class Moment(NamedTuple):
    """A stretch of time in seconds since the epoch: a day lasts until the next one, an age is one instant."""

    start: float
    end: float


def parse_moment(text: str, now: float) -> Moment | None:
    """A date, a date and time, today, yesterday; or an age, which means that long before now."""
    if text in ("today", "yesterday"):
        day = datetime.fromtimestamp(now).replace(hour=0, minute=0, second=0, microsecond=0)
        return _day(day if text == "today" else day - timedelta(days=1))
    if _AGE.fullmatch(text) and (seconds := seconds_in(text)) is not None:
        return Moment(now - seconds, now - seconds)
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

"""Round numbers for the axes. Pure."""

from __future__ import annotations

import math
from typing import NamedTuple

_TIMES = (0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400)
_DAY = 86400
_ROUND, _FINE = (1, 2, 2.5, 5, 10), (1, 2, 2.5, 3, 4, 5, 6, 8, 10)  # two large steps would leave half of an axis empty


class Ticks(NamedTuple):
    top: float  # the axis ends here
    values: tuple[float, ...]


def value_ticks(most: float, unit: str, wanted: int = 4) -> Ticks:
    """From 0 to at least `most`, about `wanted` steps; bytes in powers of two."""
    if not most > 0:
        most = 100.0 if unit == "%" else 1.0
    scale = 1024.0 ** int(math.log(max(most, 1), 1024) + 1e-9) if unit.startswith("B") else 1.0
    step = _round_step(most / scale / wanted, _FINE if wanted < 3 else _ROUND) * scale
    if not unit:
        step = max(1.0, step)
    count = math.ceil(most / step - 1e-9)
    return Ticks(count * step, tuple(step * n for n in range(count + 1)))


def _round_step(rough: float, factors: tuple[float, ...]) -> float:
    power = 10.0 ** math.floor(math.log10(rough))
    return next(factor * power for factor in factors if factor * power >= rough * (1 - 1e-9))


def time_ticks(seconds: float, wanted: int = 8) -> tuple[float, ...]:
    rough = max(seconds, 1e-3) / wanted
    step = next((step for step in _TIMES if step >= rough), math.ceil(rough / _DAY) * _DAY)
    return tuple(step * n for n in range(int(seconds / step + 1e-9) + 1))


def elapsed(seconds: float, step: float = 1.0) -> str:
    """0:42, 12:05, 3:04:05, 2d 03:00; with a digit behind the point when the ticks are that close."""
    if step < 1:
        return f"{seconds:.1f}s"
    whole = round(seconds)
    days, rest = divmod(whole, _DAY)
    hours, minutes, left = rest // 3600, rest // 60 % 60, rest % 60
    if days:
        return f"{days}d {hours:02d}:{minutes:02d}"
    return f"{hours}:{minutes:02d}:{left:02d}" if hours else f"{minutes}:{left:02d}"


def apart(places: list[float], least: float) -> list[bool]:
    """Which labels have room: each one that is at least so far from the last one with a label."""
    found, last = [], -math.inf
    for place in places:
        found.append(place - last >= least)
        last = place if found[-1] else last
    return found

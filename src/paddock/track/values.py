"""What a call of log() holds, sorted by kind: numbers, texts, media, plain values, and what cannot be kept."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from paddock import wire
from paddock.track.things.media import Media, as_media

MAX_DEPTH = 16
MAX_NAMES = 1_000_000
MAX_VALUES = 1024  # a longer list is a file or a histogram, not a value


@dataclass
class Sorted:
    numbers: dict[str, Any] = field(default_factory=dict)  # ready for a row: number, bool, None (NaN), "inf", "-inf"
    texts: dict[str, str] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)
    media: dict[str, Media] = field(default_factory=dict)
    dropped: dict[str, str] = field(default_factory=dict)  # name -> why
    looked_at: int = 0
    earlier: list[Sorted] = field(default_factory=list)  # what the same call said under a name that came again

    def keep(self, kind: str, name: str, value: Any) -> None:
        """`{"a/b": 1, "a": {"b": 2}}` says one name twice: the last counts, and the one before is a point too."""
        kept: dict[str, Any] = getattr(self, kind)
        if name in kept:
            before = Sorted()
            before.keep(kind, name, kept.pop(name))
            self.earlier.append(before)
        kept[name] = value


def sort(data: Mapping[Any, Any]) -> Sorted:
    found = Sorted()
    _sort(data, "", found, (id(data),))
    return found


def _sort(data: Mapping[Any, Any], prefix: str, found: Sorted, above: tuple[int, ...]) -> None:
    for key, value in data.items():
        name = wire.text(f"{prefix}{_name(key)}")
        found.looked_at += 1
        if found.looked_at > MAX_NAMES:
            found.dropped[prefix or name] = f"more than {MAX_NAMES:,} names in one call"
            return
        if isinstance(value, Mapping):
            if id(value) in above:
                found.keep("dropped", name, "it contains itself")
            elif len(above) > MAX_DEPTH:
                found.keep("dropped", name, "nested too deeply")
            else:
                _sort(value, name + "/", found, (*above, id(value)))
        elif value is not None:
            _put(name, value, found)


def _name(key: Any) -> str:
    try:
        return str(key)
    except Exception:
        return f"<{type(key).__name__}>"


def _put(name: str, value: Any, found: Sorted) -> None:
    if isinstance(value, Media):
        found.keep("media", name, value)
        return
    if isinstance(value, str):
        found.keep("texts", name, wire.text(value))
        return
    number = as_number(value)
    if number is not None:
        found.keep("numbers", name, row_value(number))
        return
    if isinstance(value, (list, tuple)) and value and all(isinstance(item, Media) for item in value):
        for place, item in enumerate(value):
            found.keep("media", f"{name}/{place}", item)
        return
    media = as_media(value)
    if media is not None:
        found.keep("media", name, media)
        return
    size = _size(value)
    if size is not None and size > MAX_VALUES:
        found.keep("dropped", name, f"{size} values in one point; log a paddock.Histogram or save a file")
        return
    kept = wire.plain(value)
    if kept.lossy:
        found.keep("dropped", name, f"a {type(value).__name__} is no number, text or list")
    else:
        found.keep("values", name, kept.value)


def as_number(value: Any) -> int | float | None:
    """The Python number in a scalar of any make (numpy, torch, jax, Decimal), or None."""
    kind = type(value)
    if kind is float or kind is int or kind is bool:
        return value  # type: ignore[no-any-return]
    try:
        if isinstance(value, numbers.Integral):
            return int(value)
        if isinstance(value, numbers.Real):
            return float(value)
        if callable(getattr(value, "item", None)) and _size(value) in (1, None):
            value = value.item()
            return value if type(value) in (float, int, bool) else None
        if hasattr(type(value), "__float__") and _size(value) is None:
            return float(value)
    except Exception:  # a foreign object may do anything when asked for its number
        return None
    return None


def row_value(number: float | int) -> Any:
    """JSON has no NaN and no infinities; a row writes them as null, "inf" and "-inf"."""
    if type(number) is float and not math.isfinite(number):
        return None if number != number else "inf" if number > 0 else "-inf"
    return number


def _size(value: Any) -> int | None:
    for attribute in ("numel", "size"):
        found = getattr(value, attribute, None)
        if callable(found):
            try:
                found = found()
            except Exception:
                continue
        if isinstance(found, int):
            return found
    try:
        return len(value)
    except Exception:
        return None


def as_step(step: Any) -> int | None:
    """A step as a whole number, or None when it is none."""
    number = as_number(step)
    if number is None or number != number or number in (math.inf, -math.inf):
        return None
    whole = int(number)
    return whole if whole == number and -(2**63) <= whole < 2**63 else None

"""What a checkpoint says, as data: numbers stay numbers, anything else becomes a short text."""

from __future__ import annotations

import math
import reprlib
from typing import Any

from paddock import wire

WORDS, LETTERS = 32, 500

_short = reprlib.Repr()
_short.maxstring = _short.maxother = LETTERS


def words(message: tuple[Any, ...]) -> list[Any]:
    kept = [_word(value) for value in message[:WORDS]]
    return kept if len(message) <= WORDS else [*kept, f"… and {len(message) - WORDS} more"]


def _word(value: Any) -> Any:
    if value is None or type(value) is bool:
        return value
    if type(value) is int and -(2**63) <= value < 2**63:
        return value
    if type(value) is float and math.isfinite(value):
        return value
    try:
        # A container's own str() may be a million entries long.
        large = isinstance(value, (list, tuple, dict, set, frozenset))
        text = _short.repr(value) if large else str(value)
    except Exception as error:
        text = f"<{type(value).__name__}: str() raised {type(error).__name__}>"
    cut = text if len(text) <= LETTERS else f"{text[:LETTERS]}… ({len(text)} characters)"
    return wire.text(cut)

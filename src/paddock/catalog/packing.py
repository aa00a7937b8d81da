"""Values packed for the index's blobs."""

from __future__ import annotations

from typing import Any

import msgspec

from paddock import wire


def pack(value: Any) -> bytes:
    """JSON holds whole numbers of any size, the packed form only 64 bits: a larger one is kept as its digits."""
    try:
        return wire.pack(value)
    except OverflowError:
        return wire.pack(_fitting(msgspec.to_builtins(value)))


def _fitting(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _fitting(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_fitting(item) for item in value]
    if type(value) is int and not -(2**63) <= value < 2**64:
        return str(value)
    return value

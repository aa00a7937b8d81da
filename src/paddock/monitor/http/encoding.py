"""Values as the JSON that clients get: NaN is null, and the infinities, which JSON has not, are "inf" and "-inf"."""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping
from typing import Any

import msgspec

from paddock import wire
from paddock.compare.fields import MISSING
from paddock.compare.stats import best_of
from paddock.model import RunRow


def encode(value: Any) -> bytes:
    found = wire.shown(value)
    return bytes(found) if found is not None else wire.dumps(_walked(value))


def _walked(value: Any) -> Any:
    """One by one, for what the encoder refuses or writes as null."""
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, msgspec.Raw):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None if math.isnan(value) else "inf" if value > 0 else "-inf"
    if isinstance(value, str):
        return wire.text(value)
    if isinstance(value, msgspec.Struct):
        fields = msgspec.structs.fields(value)
        return {field.encode_name: _walked(getattr(value, field.name)) for field in fields}
    if isinstance(value, Mapping):
        return {wire.text(str(key)): _walked(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset, array)):
        return [_walked(item) for item in value]
    return None if value is MISSING else _walked(wire.plain(value).value)


def numbers(column: array[Any]) -> bytes:
    """Many of them at once."""
    values: list[Any] = column.tolist()
    data = wire.encode(values)
    if column.typecode == "d" and b"null" in data:
        values = [None if x != x else x if math.isfinite(x) else "inf" if x > 0 else "-inf" for x in values]
        data = wire.encode(values)
    return data


def run(row: RunRow) -> bytes:
    """A run as `paddock ls --json` prints it, but for its duration, which depends on when one looks."""
    found = {name: getattr(row, name) for name in row.__struct_fields__}
    found["metrics"] = {
        name: {**stat._asdict(), "best": best_of(name, stat, row.goals)} for name, stat in row.metrics.items()
    }
    return encode(found)

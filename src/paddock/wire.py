"""Bytes <-> values. The only module that calls an encoder.

A journal line is one JSON value, and its last member is the CRC-32 of all bytes before the line's last comma:

    [3,1999,81723,0.25,0.91,2774923301]            a row of points (docs/reference/journal.md)
    {"k":"mark","name":"warmup","crc":1093472615}  any other record

So a line can be checked by itself, and is still plain JSON for jq, pandas and people.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any
from zlib import crc32

import msgspec

_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder()

encode = _encoder.encode
decode = _decoder.decode
DecodeError = msgspec.MsgspecError
pack = msgspec.msgpack.encode  # for the catalog, which is read by this version of this package only
unpacker = msgspec.msgpack.Decoder
Raw = msgspec.Raw

_NONFINITE = "$float"  # JSON has no NaN: {"$float": "nan"} stands for one in a record's values
_ESCAPED = "$dict"  # and {"$dict": {"$float": "nan"}} for a dict that somebody else filled like that
_CODES = (_NONFINITE, _ESCAPED)
_FLOATS = {word: float(word) for word in ("nan", "inf", "-inf")}


class _Coded(dict[str, Any]):
    """One of these stand-ins, made by `plain`: told from a user's dict, so that `plain` can be applied twice."""


def row_line(values: list[Any]) -> bytes:
    body = encode(values)[:-1]
    return b"%b,%d]\n" % (body, crc32(body))


def record_line(record: dict[str, Any]) -> bytes:
    body = encode(record)[:-1]
    return b'%b,"crc":%d}\n' % (body, crc32(body))


def read_line(line: bytes) -> dict[str, Any] | list[Any] | None:
    """The value of one journal line, or None when it is damaged."""
    body, comma, _ = line.rpartition(b",")
    if not comma:
        return None
    try:
        value = _decoder.decode(line)
    except DecodeError:
        return None
    if type(value) is list:
        return value if len(value) >= 4 and value[-1] == crc32(body) else None
    if type(value) is dict:
        return value if value.pop("crc", None) == crc32(body) and "k" in value else None
    return None


def dumps(value: Any, *, indent: int = 0) -> bytes:
    raw = encode(value)
    return msgspec.json.format(raw, indent=indent) if indent else raw


_INFINITIES = pack(math.inf), pack(-math.inf)


def shown(value: Any) -> Raw | None:
    """The JSON of dicts, lists and scalars, ready to be put into other JSON, with NaN as null. None when it takes a
    closer look: JSON has no infinities. They are looked for in a packed copy, which is several times cheaper than
    a walk in Python."""
    try:
        packed = pack(value)
        if any(infinity in packed for infinity in _INFINITIES):
            return None
        return Raw(encode(value))
    except (TypeError, ValueError, OverflowError):  # another kind of object, half a character, a huge number
        return None


def loads(raw: bytes | str) -> Any:
    value = _decoder.decode(raw)
    data = raw.encode("utf-8", "replace") if isinstance(raw, str) else raw
    return _revive(value) if any(code.encode() in data for code in _CODES) else value


def revive(value: Any) -> Any:
    """Undo what `plain` did to NaN, the infinities and dicts that look like them."""
    return _revive(value)


def _revive(value: Any) -> Any:
    if isinstance(value, dict):
        if len(value) == 1:
            ((key, item),) = value.items()
            if key == _NONFINITE and isinstance(item, str) and item in _FLOATS:
                return _FLOATS[item]
            if key == _ESCAPED and _looks_coded(item):
                value = item
        return {key: _revive(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_revive(item) for item in value]
    return value


def _looks_coded(value: Any) -> bool:
    return isinstance(value, dict) and len(value) == 1 and next(iter(value)) in _CODES


class Plain(msgspec.Struct):
    """A value that JSON can hold, and the places where something had to be written as its repr()."""

    value: Any
    lossy: list[str]


def plain(value: Any) -> Plain:
    """Any Python object as JSON data: configs of every make, numpy and torch scalars, paths, enums.

    What nothing here knows is kept as its repr(), and named in `lossy`, so that a config is never lost whole
    because of one odd value.
    """
    lossy: list[str] = []
    return Plain(_plain(value, "", lossy, ()), lossy)


def _plain(value: Any, where: str, lossy: list[str], above: tuple[int, ...]) -> Any:
    """`above`: the ids of what this value lies in. One that lies in itself would be written for ever."""
    kind = type(value)
    if value is None or kind is bool:
        return value
    if kind is str:
        return value if value.isascii() else text(value)
    if kind is int:
        return value if -(2**63) <= value < 2**64 else str(value)
    if kind is float:
        return value if math.isfinite(value) else _Coded({_NONFINITE: repr(value)})
    if kind is _Coded:
        return value
    if id(value) in above or len(above) > 64:
        lossy.append(where or ".")
        return "<contains itself>" if id(value) in above else "<nested too deeply>"
    above = (*above, id(value))
    if kind.__module__.startswith("omegaconf"):  # a Mapping too, but one that raises at a missing value
        return _plain(_omegaconf(value), where, lossy, above)
    if isinstance(value, Mapping):
        try:
            pairs = list(value.items())
        except Exception:
            lossy.append(where or ".")
            return text(_safe_repr(value))
        found = {text(str(k)): _plain(v, f"{where}.{k}" if where else str(k), lossy, above) for k, v in pairs}
        return _Coded({_ESCAPED: found}) if _looks_coded(found) else found
    if isinstance(value, (list, tuple, set, frozenset)):
        items: Sequence[Any] = sorted(value, key=repr) if isinstance(value, (set, frozenset)) else value
        return [_plain(v, f"{where}[{i}]", lossy, above) for i, v in enumerate(items)]
    known, inner = _unwrap(value)
    if known and type(inner) is not kind:
        return _plain(inner, where, lossy, above)
    lossy.append(where or ".")
    return text(_safe_repr(value))


def text(value: str) -> str:
    """Without lone surrogates (how Python holds bytes outside UTF-8, in paths and arguments): JSON has none."""
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    return value


def _omegaconf(value: Any) -> Any:
    from omegaconf import OmegaConf

    for resolve in (True, False):  # an interpolation that leads nowhere is kept as it was written
        try:
            return OmegaConf.to_container(value, resolve=resolve, throw_on_missing=False)
        except Exception:
            continue
    return _safe_repr(value)


def _unwrap(value: Any) -> tuple[bool, Any]:
    """(True, a simpler value) for the kinds of object that configs and metrics are made of."""
    import dataclasses
    import datetime
    import enum
    import os

    try:
        if isinstance(value, enum.Enum):
            return True, value.value
        if isinstance(value, os.PathLike):
            return True, os.fspath(value)
        if isinstance(value, (datetime.date, datetime.time)):
            return True, value.isoformat()
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return True, {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
        if isinstance(value, msgspec.Struct):
            return True, {name: getattr(value, name) for name in value.__struct_fields__}
        if isinstance(value, (bool, int, float, str)):  # subclasses
            base = next(b for b in (bool, int, float, str) if isinstance(value, b))
            return True, base(value)
        if isinstance(value, bytes):
            return True, value.decode("utf-8", "backslashreplace")
        if callable(dump := getattr(value, "model_dump", None)) and not isinstance(value, type):
            return True, dump(mode="python")
        if callable(dump := getattr(value, "dict", None)) and hasattr(value, "__fields__"):  # pydantic 1
            return True, dump()
        if fields := getattr(type(value), "__attrs_attrs__", None):
            return True, {field.name: getattr(value, field.name) for field in fields}
        if type(value).__module__ in ("argparse", "types") and hasattr(value, "__dict__") and not callable(value):
            return True, dict(vars(value))
        if getattr(value, "ndim", None) == 0 and callable(item := getattr(value, "item", None)):
            return True, item()
        if callable(tolist := getattr(value, "tolist", None)) and getattr(value, "size", 1 << 30) <= 1024:
            return True, tolist()
    except Exception:  # a foreign object may do anything when asked; its repr is what we keep then
        return False, None
    return False, None


def _safe_repr(value: Any) -> str:
    try:
        text = repr(value)
    except Exception as error:
        text = f"<{type(value).__name__}: repr() raised {type(error).__name__}>"
    return text if len(text) <= 2000 else text[:2000] + f"... ({len(text)} characters)"

"""A request's parameters and body as values: one decode, and a sentence for what cannot be read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar, get_args, get_origin
from urllib.parse import parse_qsl

import msgspec

from paddock.errors import UsageError

T = TypeVar("T", bound=msgspec.Struct)
MOST_PARAMETERS = 2000
_DOCS = "GET /api/v1/openapi.json lists what there is."


def params(kind: type[T], query: bytes) -> T:
    """A query string as a Struct. A field that is a tuple may be given several times; any other once."""
    fields = {field.encode_name: field.type for field in msgspec.structs.fields(kind)}
    found: dict[str, Any] = {}
    for name, text in _pairs(query):
        if name not in fields:
            raise UsageError(f"There is no parameter {name!r} here.", hint=_known(fields))
        if _several(fields[name]):
            found.setdefault(name, []).append(text)
        elif name in found:
            raise UsageError(f"The parameter {name!r} is given more than once.")
        else:
            found[name] = text
    try:
        return msgspec.convert(found, kind, strict=False)
    except msgspec.ValidationError as error:
        raise UsageError(f"A parameter cannot be used: {_sentence(error)}.", hint=_known(fields)) from None


def _pairs(query: bytes) -> Sequence[tuple[str, str]]:
    try:
        return parse_qsl(query.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=MOST_PARAMETERS)
    except (ValueError, UnicodeDecodeError):
        raise UsageError("The parameters cannot be read.", hint="They are UTF-8, %-encoded.") from None


def _several(kind: Any) -> bool:
    return get_origin(kind) is tuple or (bool(get_args(kind)) and any(_several(part) for part in get_args(kind)))


def _known(fields: Mapping[str, Any]) -> str:
    return f"It takes {', '.join(fields)}." if fields else "It takes none."


_decoders: dict[Any, msgspec.json.Decoder[Any]] = {}


def body(kind: type[T], data: bytes) -> T:
    decoder = _decoders.get(kind)
    if decoder is None:
        decoder = _decoders[kind] = msgspec.json.Decoder(kind)
    try:
        found: T = decoder.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"The body cannot be used: {_sentence(error)}.", hint=_DOCS) from None
    return found


def _sentence(error: Exception) -> str:
    return str(error).rstrip(".")[:500]

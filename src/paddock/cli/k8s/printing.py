"""Objects as YAML, for people. Every text is quoted as JSON does it, which YAML reads the same."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from paddock import wire

_PLAIN = re.compile(r"[A-Za-z/][A-Za-z0-9_./-]*")
_WORDS = {"true", "false", "null", "yes", "no", "on", "off", "y", "n"}


def yaml(value: Any) -> str:
    return "\n".join(_lines(value)) + "\n"


def _lines(value: Any) -> list[str]:
    if isinstance(value, Mapping) and value:
        return [line for key, item in value.items() for line in _entry(_scalar(key), item)]
    if isinstance(value, Sequence) and not isinstance(value, str) and value:
        found = []
        for item in value:
            first, *rest = _lines(item)
            found += [f"- {first}", *(f"  {line}" for line in rest)]
        return found
    return [_scalar(value)]


def _entry(key: str, item: Any) -> list[str]:
    if isinstance(item, (Mapping, list, tuple)) and item:
        return [f"{key}:", *(f"  {line}" for line in _lines(item))]
    return [f"{key}: {_scalar(item)}"]


def _scalar(value: Any) -> str:
    if isinstance(value, str) and _PLAIN.fullmatch(value) and value.lower() not in _WORDS:
        return value
    return wire.dumps(value).decode()

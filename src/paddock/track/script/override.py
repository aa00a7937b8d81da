"""`lr=0.1 model.depth=50`: overrides of a script's config. Pure."""

from __future__ import annotations

import copy
import difflib
from collections.abc import Sequence
from typing import Any

from paddock import wire
from paddock.errors import UsageError


def apply(config: dict[str, Any], overrides: Sequence[str]) -> dict[str, Any]:
    """The effective config: the defaults with every `key=value` put in. A value takes the type of the default it
    replaces; a new key is written `+key=value`."""
    found = copy.deepcopy(config)
    for override in overrides:
        key, equals, text = override.partition("=")
        fresh = key.startswith("+")
        path = key.removeprefix("+").split(".")
        if not equals or not all(path):
            raise UsageError(f"{override!r} is no override.", hint="Write key=value, as in lr=0.1 or model.depth=50.")
        _put(found, path, text, fresh, override)
    return found


def _put(config: dict[str, Any], path: list[str], text: str, fresh: bool, override: str) -> None:
    # A key may itself contain dots: the longest existing one wins.
    whole = ".".join(path)
    if whole in config:
        path = [whole]
    here = config
    for depth, part in enumerate(path[:-1]):
        if part not in here and fresh:
            here[part] = {}
        inner = here.get(part)
        if not isinstance(inner, dict):
            raise _unknown(here, ".".join(path[: depth + 1]), part, override)
        here = inner
    last = path[-1]
    if last not in here and not fresh:
        raise _unknown(here, whole, last, override)
    here[last] = parse(text, here.get(last), override)


def _unknown(here: dict[str, Any], name: str, part: str, override: str) -> UsageError:
    near = difflib.get_close_matches(part, [str(k) for k in here], 1)
    hint = f"Did you mean {near[0]!r}?" if near else f"It has: {', '.join(map(str, here)) or 'nothing'}."
    return UsageError(f"The script's config has no {name!r}.", hint=f"{hint} A new key is written +{override}")


def parse(text: str, default: Any, override: str) -> Any:
    wrong = UsageError(f"{override!r}: {text!r} is no {type(default).__name__}, as the default {default!r} is.")
    if isinstance(default, bool):
        lowered = text.strip().lower()
        if lowered in ("true", "yes", "on", "1"):
            return True
        if lowered in ("false", "no", "off", "0"):
            return False
        raise wrong
    if isinstance(default, str):
        return text
    if text.strip().lower() in ("none", "null"):
        return None
    if isinstance(default, int):
        try:
            return int(text)
        except ValueError:
            return _number(text, wrong)
    if isinstance(default, float):
        return _number(text, wrong)
    try:
        value = wire.loads(text)
    except wire.DecodeError:
        value = _literal(text)
    if isinstance(default, (list, tuple, dict)) and not isinstance(value, (list, dict)):
        raise wrong
    return tuple(value) if isinstance(default, tuple) and isinstance(value, list) else value


def _number(text: str, wrong: UsageError) -> float:
    try:
        return float(text)
    except ValueError:
        raise wrong from None


def _literal(text: str) -> Any:
    lowered = text.strip().lower()
    if lowered in ("true", "false"):
        return lowered == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text

"""A directory that is not there: its training has yet to make it, or its name is mistyped. What is worth a word."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from difflib import get_close_matches

from paddock.errors import UsageError

_CLOSE = 0.65  # two letters of a short name may be in the wrong order


def check(path: str, text: str) -> None:
    """That it can come to be there; `text` is how it was written."""
    if not text.strip():
        raise UsageError("An empty name is no directory.", hint="Is the variable set that it comes from?")
    nearest = path
    while not os.path.lexists(nearest):
        nearest = os.path.dirname(nearest)
    if os.path.exists(nearest) and not os.path.isdir(nearest):
        where = text if nearest == path else f"{text} cannot be there: {nearest}"
        raise UsageError(f"{where} is a file.", hint="Name the directory that checkpoints are saved in.")


def remark(path: str, shown: Callable[[str], str] = str) -> str:
    """One sentence, and a question where another directory may be meant."""
    missing = _first_missing(path)
    nor = f", nor does {shown(missing)}" if missing != path else ""
    meant = _meant(path, missing)
    question = f" Did you mean {shown(meant)}?" if meant else ""
    return f"{shown(path)} does not exist yet{nor}: it is watched as soon as it appears.{question}"


def _first_missing(path: str) -> str:
    missing = path
    while not os.path.lexists(os.path.dirname(missing)):
        missing = os.path.dirname(missing)
    return missing


def _meant(path: str, missing: str) -> str:
    """A directory that differs by a few letters of the first name that is missing. Another number is no slip: seed2
    is what comes after seed1."""
    place, name = os.path.split(missing)
    below = path[len(missing) :]
    try:
        names = [other for other in os.listdir(place) if os.path.isdir(os.path.join(place, other) + below)]
    except OSError:
        return ""
    others = [other for other in names if _letters(other) != _letters(name) and other[0] != "."]
    close = get_close_matches(name, others, 1, _CLOSE)
    return os.path.join(place, close[0]) + below if close else ""


def _letters(name: str) -> str:
    return re.sub(r"\d+", "0", name)

"""Sweeps: one command with placeholders, many tasks. Pure.

    expand(["python", "train.py", "--lr", "{lr}"], ["lr=1e-3,1e-4", "seed=0..4"])     ten points

Only `{name}` of a name in the grid is a placeholder; any other brace is the command's own.
"""

from __future__ import annotations

import itertools
import re
import shlex
from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple

from paddock import wire
from paddock.errors import UsageError

MOST = 100_000  # tasks of one sweep: more is a slip of the finger
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_RANGE = re.compile(r"(?P<first>-?[0-9.eE+-]+?)\.\.(?P<last>-?[0-9.eE+-]+?)(?:\.\.(?P<step>-?[0-9.eE+-]+))?")


class Point(NamedTuple):
    """One task of a sweep."""

    command: str
    config: dict[str, Any]
    label: str  # "lr=1e-3 seed=0"


def expand(words: Sequence[str], grids: Sequence[str]) -> list[Point]:
    """Every combination, the last name changing fastest. One word is a shell command as it stands, several are its
    arguments."""
    axes = dict(_axis(grid) for grid in grids)
    if len(axes) != len(grids):
        raise UsageError("A name is given to --grid twice.", hint="Put all its values into one: --grid lr=0.1,0.01.")
    total = 1
    for values in axes.values():
        total *= len(values)
    if total > MOST:
        raise UsageError(f"This sweep has {total:,} tasks, and {MOST:,} are the most.", hint="Split it.")
    return [_point(words, dict(zip(axes, values, strict=True))) for values in itertools.product(*axes.values())]


def unused(words: Sequence[str], grids: Sequence[str]) -> list[str]:
    """Names of the grid that the command does not mention."""
    text = " ".join(words)
    return [name for name in (grid.partition("=")[0] for grid in grids) if f"{{{name}}}" not in text]


def join(words: Sequence[str]) -> str:
    """The shell command that the words on a command line mean."""
    return words[0] if len(words) == 1 else shlex.join(words)


def typed(text: str) -> Any:
    """A value as a config has it: a number, true, false or null where it reads like one, else the text."""
    try:
        value = wire.loads(text)
    except wire.DecodeError:
        # 1. and .5 and +3, which JSON does not know
        return float(text) if re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", text) else text
    return text if isinstance(value, str) else value


def _point(words: Sequence[str], values: Mapping[str, str]) -> Point:
    quote = shlex.quote if len(words) == 1 else str
    filled = [_fill(word, {name: quote(value) for name, value in values.items()}) for word in words]
    label = " ".join(f"{name}={value}" for name, value in values.items())
    return Point(join(filled), {name: typed(value) for name, value in values.items()}, label)


def _fill(text: str, values: Mapping[str, str]) -> str:
    if not values:
        return text
    names = "|".join(re.escape(name) for name in values)
    return re.sub(rf"\{{({names})\}}", lambda match: values[match[1]], text)


def _axis(grid: str) -> tuple[str, list[str]]:
    name, equals, text = grid.partition("=")
    if not equals or not _NAME.fullmatch(name) or not text:
        raise UsageError(f"--grid {grid!r} is no grid.", hint="Write --grid lr=1e-3,1e-4 or --grid seed=0..4.")
    found = [value for part in _parts(text) for value in _values(part)]
    if len(set(found)) != len(found):
        raise UsageError(f"--grid {grid!r} names a value twice.", hint="Each value makes a task of its own.")
    return name, found


def _parts(text: str) -> list[str]:
    """Split at commas that lie in no brackets: layers=[1,2],[3,4] are two values."""
    parts, depth, current = [], 0, ""
    for character in text:
        depth += (character in "[{(") - (character in "]})")
        if character == "," and depth == 0:
            parts.append(current)
            current = ""
        else:
            current += character
    return [part.strip() for part in (*parts, current)]


def _values(part: str) -> list[str]:
    match = _RANGE.fullmatch(part)
    if match is None:
        return [part]
    try:
        first, last, step = (Decimal(match[key]) if match[key] else None for key in ("first", "last", "step"))
    except InvalidOperation:
        return [part]
    assert first is not None and last is not None
    step = step if step is not None else Decimal(1 if last >= first else -1)
    if step == 0 or (last - first) / step < 0:
        raise UsageError(f"The range {part!r} never ends.", hint="Write first..last or first..last..step.")
    count = int((last - first) / step) + 1
    if count > MOST:
        raise UsageError(f"The range {part!r} has {count:,} values.", hint="Write first..last..step.")
    return [str(first + i * step) for i in range(count)]

"""Sweeps: one command with placeholders, many tasks. Pure.

    expand(["python", "train.py", "--lr", "{lr}"], ["lr=1e-3,1e-4", "seed=0..4"])     ten points

Only `{name}` of a name in the grid is a placeholder; any other brace is the command's own.
"""

from __future__ import annotations

import itertools
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple

from paddock import wire
from paddock.errors import UsageError

MOST = 100_000  # tasks of one sweep: more is a slip of the finger
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_BRACED = re.compile(r"(?<![${])\{([A-Za-z_]\w*(?:[.-]\w+)*)\}(?!\})")
_ALIKE = 0.7  # sed and seed are, print and point are not by much
_RANGE = re.compile(r"(?P<first>-?[0-9.eE+-]+?)\.\.(?P<last>-?[0-9.eE+-]+?)(?:\.\.(?P<step>-?[0-9.eE+-]+))?")


class Text(str):
    """A value that was in quotes: neither a number nor a range, and its commas are its own."""


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


def slips(words: Sequence[str], grids: Sequence[str]) -> list[tuple[str, str]]:
    """What stands in braces in the command and is almost a name of the grid, each with that name. `${seeds}` is a
    variable of the shell's, `{{seeds}}` somebody else's template."""
    from difflib import get_close_matches

    names = {name.lower(): name for name in (grid.partition("=")[0] for grid in grids)}
    found = dict.fromkeys(_BRACED.findall(" ".join(words))) if names else {}
    near = {word: get_close_matches(word.lower(), names, 1, _ALIKE) for word in found if word not in names.values()}
    return [(word, names[fits[0]]) for word, fits in near.items() if fits]


def join(words: Sequence[str]) -> str:
    """The shell command that the words on a command line mean."""
    return words[0] if len(words) == 1 else shlex.join(words)


def typed(text: str) -> Any:
    """A value as a config has it: a number, true, false or null where it reads like one, else the text."""
    if isinstance(text, Text):
        return str(text)
    try:
        value = wire.loads(text)
    except wire.DecodeError:
        # 007 and 1. and .5 and +3, which JSON does not know
        if re.fullmatch(r"[+-]?[0-9]{1,18}", text):
            return int(text)
        return float(text) if re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", text) else text
    return text if isinstance(value, str) else value


def _point(words: Sequence[str], values: Mapping[str, str]) -> Point:
    filled = [_fill(word, values, as_shell=len(words) == 1) for word in words]
    label = " ".join(f"{name}={value}" for name, value in values.items())
    return Point(join(filled), {name: typed(value) for name, value in values.items()}, label)


def _fill(text: str, values: Mapping[str, str], *, as_shell: bool) -> str:
    """`as_shell`, the text is a shell command, in which a value stays part of one word, in quotes or not."""
    if not values:
        return text
    names = "|".join(re.escape(name) for name in values)
    filled, quote, end = "", "", 0
    for match in re.finditer(rf"\{{({names})\}}", text):
        between = text[end : match.start()]
        quote, end = _quote_after(between, quote), match.end()
        filled += between + (_QUOTED[quote](values[match[1]]) if as_shell else values[match[1]])
    if as_shell and quote and _quote_after(text[end:], quote):  # an apostrophe in a here-document: not quotes after all
        return re.sub(rf"\{{({names})\}}", lambda match: shlex.quote(values[match[1]]), text)
    return filled + text[end:]


def _quote_after(text: str, quote: str) -> str:
    """In which quotes a shell is at the end of a text at whose beginning it was in these."""
    skip = False
    for before, character in zip(" " + text, text, strict=False):
        if skip:
            skip = False
        elif quote == "#":
            quote = "" if character == "\n" else "#"
        elif character == "\\" and quote != "'":
            skip = True
        elif character == quote:
            quote = ""
        elif not quote and (character in "'\"" or (character == "#" and before.isspace())):
            quote = character
    return "" if quote == "#" else quote


_QUOTED: dict[str, Callable[[str], str]] = {
    "": shlex.quote,
    "'": lambda value: value.replace("'", "'\"'\"'"),
    '"': lambda value: re.sub(r'([\\"$`])', r"\\\1", value),
}


def _axis(grid: str) -> tuple[str, list[str]]:
    name, equals, text = grid.partition("=")
    if not equals or not _NAME.fullmatch(name) or not text:
        raise UsageError(f"--grid {grid!r} is no grid.", hint="Write --grid lr=1e-3,1e-4 or --grid seed=0..4.")
    parts = _parts(text)
    if not all(part or isinstance(part, Text) for part in parts):
        raise UsageError(
            f"--grid {grid!r} has an empty value.", hint=f"""Write --grid '{name}="",a' for an empty text."""
        )
    found = [value for part in parts for value in _values(part)]
    if len(set(found)) != len(found):
        raise UsageError(f"--grid {grid!r} names a value twice.", hint="Each value makes a task of its own.")
    return name, found


def _parts(text: str) -> list[str]:
    """Split at commas that lie in no brackets and no quotes: layers=[1,2],[3,4] are two values, and 'a,b',c too."""
    parts: list[str] = []
    while True:
        part = _quoted(text) or _bare(text)
        parts.append(part[0])
        if part[1] is None:
            return parts
        text = part[1]


def _quoted(text: str) -> tuple[str, str | None] | None:
    """A value all of which is in quotes, and what follows the comma behind it; None is no comma."""
    match = re.match(r"""\s*(["'])(.*?)\1\s*(?:,|$)""", text, re.DOTALL)
    if match is None:
        return None
    return Text(match[2]), text[match.end() :] if match[0].endswith(",") else None


def _bare(text: str) -> tuple[str, str | None]:
    depth = 0
    for at, character in enumerate(text):
        depth += (character in "[{(") - (character in "]})")
        if character == "," and depth == 0:
            return text[:at].strip(), text[at + 1 :]
    return text.strip(), None


def _values(part: str) -> list[str]:
    match = None if isinstance(part, Text) else _RANGE.fullmatch(part)
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
    if count == 1 and first != last and not match["step"]:
        raise UsageError(f"The range {part!r} has only one value.", hint="Name the step: first..last..step.")
    return [str(first + i * step) for i in range(count)]

"""What a call of the `logging` module says, as text. Never an exception: a log line must not end a training.

The usual `%` formatting is tried first. Where it fails (`logging.info("a", "b")`, `logging.info("100%", x)`) the parts
are put beside each other. Objects of rich are drawn; what is too large to be text is named by its type and shape.
"""

from __future__ import annotations

import logging
from typing import Any

from paddock import wire

LONGEST_TEXT = 16_000  # characters of a line
LONGEST_TRACE = 64_000  # of a traceback
LARGE = 1_000  # values that an array may have, or a list, to be written out
WIDTH = 100  # columns of what rich draws

_PLAIN = frozenset({str, int, float, bool, type(None)})


def message(record: logging.LogRecord) -> str:
    """Stands in for LogRecord.getMessage()."""
    msg, args = record.msg, record.args
    if type(msg) is str:
        if not args:
            return msg
        try:
            if type(args) is tuple:
                for arg in args:
                    if type(arg) not in _PLAIN:
                        return msg % tuple(map(_drawn, args))
                return msg % args
            # A single dict comes as the arguments themselves. As one of a tuple it cannot be left out silently, as
            # `"a" % {}` would do.
            return msg % args if "%(" in msg else msg % (_drawn(args),)
        except Exception:
            pass
    elif not args:
        return shown(msg)
    parts = [shown(part) for part in (msg, *(args if type(args) is tuple else (args,)))]
    return ("\n" if any("\n" in part for part in parts) else " ").join(parts)


def _drawn(part: Any) -> Any:
    return shown(part) if _is_rich(part) or _is_large(part) else part


def _is_rich(part: Any) -> bool:
    kind = type(part)
    return hasattr(kind, "__rich_console__") or hasattr(kind, "__rich__")


def shown(part: Any) -> str:
    if type(part) is str:
        return part
    try:
        if _is_rich(part):
            return _rendered(part)
        return _named(part) if _is_large(part) else cut(str(part), LONGEST_TEXT)
    except Exception as error:
        return f"<{type(part).__name__}: {type(error).__name__} while it was made a text>"


def _rendered(part: Any) -> str:
    from io import StringIO

    from rich.console import Console

    console = Console(file=StringIO(), width=WIDTH, no_color=True, force_terminal=False, emoji=False)
    console.print(part, markup=False, highlight=False)
    return "\n".join(line.rstrip() for line in console.file.getvalue().rstrip("\n").split("\n"))  # type: ignore[attr-defined]


def _is_large(part: Any) -> bool:
    kind = type(part)
    if kind in (str, int, float, bool) or part is None:
        return False
    if kind in (list, tuple, dict, set, frozenset, bytes, bytearray):
        return len(part) > LARGE
    return hasattr(kind, "shape") and hasattr(kind, "dtype") and _count(part.shape) > LARGE


def _count(shape: Any) -> int:
    total = 1
    for size in shape:
        total *= int(size)
    return total


def _named(part: Any) -> str:
    kind = type(part).__name__
    if hasattr(part, "shape"):
        return f"<{kind} of shape {tuple(part.shape)} and type {part.dtype}; too large to be written out>"
    return f"<{kind} of {len(part):,}; too large to be written out>"


def cut(text: str, most: int) -> str:
    """Its beginning and its end, and how much is missing in between."""
    if len(text) <= most:
        return text
    left, right = most - most // 4, most // 4
    return f"{text[:left]} [... {len(text) - most:,} characters cut ...] {text[-right:]}"


def clean(text: str, most: int) -> str:
    return wire.text(cut(text, most))

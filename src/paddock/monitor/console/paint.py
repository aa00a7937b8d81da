"""Rows of styled text on a real terminal: only rows that differ from what is there are written, so nothing flickers and
a slow line carries little."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from rich.color import ColorSystem
from rich.console import Console
from rich.style import Style

from paddock.monitor.console.spans import Row

_SYSTEMS = {"standard": ColorSystem.STANDARD, "256": ColorSystem.EIGHT_BIT, "truecolor": ColorSystem.TRUECOLOR}


class Painter:
    def __init__(self, write: Callable[[bytes], None], colors: ColorSystem | None, encoding: str = "utf-8") -> None:
        self._write, self._colors, self._encoding = write, colors, encoding
        self._there: list[str] = []

    def forget(self) -> None:
        """What is on the terminal is unknown: after a resize, or when somebody else had it."""
        self._there = []

    def paint(self, rows: Sequence[Row]) -> None:
        drawn = [self._drawn(row) for row in rows]
        known = self._there if len(self._there) == len(drawn) else []
        parts = [] if known else ["\x1b[0m\x1b[2J"]
        for i, text in enumerate(drawn):
            if not known or known[i] != text:
                # Each row is placed by itself: a terminal that counts an emoji otherwise is wrong in that row only.
                parts.append(f"\x1b[{i + 1};1H{text}")
        self._there = drawn
        if parts:
            self._write("".join(parts).encode(self._encoding, "replace"))

    def _drawn(self, row: Row) -> str:
        merged: list[tuple[str, str]] = []
        for text, style in row:
            if not text:
                continue
            if merged and merged[-1][1] == style:
                merged[-1] = (merged[-1][0] + text, style)
            else:
                merged.append((text, style))
        blank = bool(merged) and not merged[-1][1] and not merged[-1][0].strip(" ")
        if blank:
            merged.pop()
        drawn = "".join(_style(style).render(text, color_system=self._colors) for text, style in merged)
        # Only what ends before the last column: there a terminal would erase the last letter.
        return f"{drawn}\x1b[0m\x1b[K" if blank or not row else drawn


@lru_cache(maxsize=256)
def _style(text: str) -> Style:
    return Style.parse(text) if text else Style.null()


def color_system() -> ColorSystem | None:
    """As rich finds out: NO_COLOR and TERM are heard."""
    console = Console()
    return None if console.no_color else _SYSTEMS.get(console.color_system or "")

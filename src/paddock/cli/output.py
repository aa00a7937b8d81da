"""The one object that prints: for people (a terminal or a pipe), as JSON, or quietly.

On a terminal tables are drawn by rich and fitted to its width; in a pipe they are plain aligned text without colours
and without anything cut off. JSON goes to stdout alone, as one document; NaN is null and the infinities are "inf" and
"-inf", because JSON has no such numbers.
"""

from __future__ import annotations

import math
import os
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from paddock import wire
from paddock.compare.fields import MISSING
from paddock.compare.text import clean, plain_table

Cell = str | tuple[str, str]  # text, or text and a style of rich
HUMAN, JSON, QUIET = "human", "json", "quiet"


class Output:
    def __init__(self, mode: str = HUMAN) -> None:
        self.mode = mode
        self.terminal = _is_terminal(sys.stdout)
        for stream in (sys.stdout, sys.stderr):
            if reconfigure := getattr(stream, "reconfigure", None):
                reconfigure(errors="backslashreplace")  # a locale without "±" must not end the program

    @property
    def human(self) -> bool:
        return self.mode == HUMAN

    @property
    def width(self) -> int:
        """Columns of the terminal; without one nothing is ever cut."""
        return shutil.get_terminal_size((80, 24)).columns if self.terminal else 1 << 20

    def json(self, value: Any) -> None:
        """The result, when --json was asked for; nothing otherwise."""
        if self.mode == JSON:
            sys.stdout.write(wire.dumps(json_value(value), indent=2).decode() + "\n")

    def json_line(self, value: Any) -> None:
        if self.mode == JSON:
            sys.stdout.write(wire.dumps(json_value(value)).decode() + "\n")
            sys.stdout.flush()

    def bare(self, text: str) -> None:
        """What --quiet leaves: one id or path a line."""
        if self.mode == QUIET:
            sys.stdout.write(clean(text) + "\n")

    def line(self, text: str = "", style: str = "") -> None:
        if self.human:
            self._print(clean(text), style)

    def raw(self, text: str) -> None:
        """Text that is printed as it is (the caller has cleaned it), whatever the mode."""
        sys.stdout.write(text)

    def heading(self, text: str) -> None:
        if self.human:
            self._print("")
            self._print(clean(text), "bold")

    def note(self, text: str) -> None:
        """Something beside the result: to stderr, so that a pipe carries the result alone."""
        if self.human:
            sys.stderr.write(clean(text) + "\n")

    def fields(self, pairs: Iterable[tuple[str, Cell]], indent: int = 2) -> None:
        """Names and values, one a line, the values aligned."""
        found = [(clean(name), _split(value)) for name, value in pairs]
        if not self.human or not found:
            return
        wide = max(len(name) for name, _ in found)
        for name, (text, style) in found:
            first, *more = text.split("\n")
            self._print_pair(" " * indent + name.ljust(wide + 2), clean(first), style)
            for line in more:
                self._print(" " * (indent + wide + 2) + clean(line), style)

    def table(
        self, headers: Sequence[str], rows: Sequence[Sequence[Cell]], right: Sequence[bool] = (), indent: int = 0
    ) -> None:
        if not self.human:
            return
        if self.terminal:
            self._rich_table(headers, rows, right, indent)
            return
        text = plain_table(
            [clean(h) for h in headers], [[clean(_split(cell)[0]) for cell in row] for row in rows], right
        )
        pad = " " * indent
        sys.stdout.write("".join(f"{pad}{line}\n" for line in text.split("\n")))

    def flush(self) -> None:
        sys.stdout.flush()

    def _console(self) -> Any:
        from rich.console import Console

        return Console(file=sys.stdout, markup=False, highlight=False, emoji=False, width=self.width)

    def _print(self, text: str, style: str = "") -> None:
        if self.terminal and style:
            self._console().print(_text(text, style), soft_wrap=True)
        else:
            sys.stdout.write(text + "\n")

    def _print_pair(self, name: str, text: str, style: str) -> None:
        if not self.terminal:
            sys.stdout.write(f"{name}{text}".rstrip() + "\n")
            return
        line = _text(name, "dim")
        line.append(text, style or None)
        self._console().print(line, soft_wrap=True)

    def _rich_table(
        self, headers: Sequence[str], rows: Sequence[Sequence[Cell]], right: Sequence[bool], indent: int
    ) -> None:
        from rich.padding import Padding
        from rich.table import Table

        sides = list(right) or [False] * len(headers)
        table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold", pad_edge=False, collapse_padding=False)
        for header, side in zip(headers, sides, strict=True):
            table.add_column(_text(header, "bold"), justify="right" if side else "left", overflow="fold")
        for row in rows:
            table.add_row(*(_text(*_split(cell)) for cell in row))
        self._console().print(Padding(table, (0, 0, 0, indent)))


def _split(cell: Cell) -> tuple[str, str]:
    return (cell, "") if isinstance(cell, str) else cell


def _text(text: str, style: str = "") -> Any:
    from rich.text import Text

    return Text(clean(text), style)


def _is_terminal(stream: Any) -> bool:
    try:
        return bool(stream.isatty()) and os.environ.get("TERM") != "dumb"
    except (AttributeError, ValueError):  # closed, or replaced by something that is no file
        return False


def json_value(value: Any) -> Any:
    if isinstance(value, float):
        if math.isfinite(value):
            return value
        return None if math.isnan(value) else ("inf" if value > 0 else "-inf")
    if isinstance(value, Mapping):
        return {str(key): json_value(item) for key, item in value.items()}
    if hasattr(value, "_asdict"):
        return json_value(value._asdict())
    if isinstance(value, (list, tuple)) or type(value).__name__ == "array":
        return [json_value(item) for item in value]
    if value is MISSING:
        return None
    if value is None or isinstance(value, (str, int, bool)):
        return value if not isinstance(value, str) else value.encode("utf-8", "backslashreplace").decode()
    return json_value(wire.plain(value).value)

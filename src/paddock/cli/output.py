"""The one object that prints: for people (a terminal or a pipe), as JSON, or quietly.

On a terminal tables are drawn by rich and fitted to its width; in a pipe they are plain aligned text without colours
and without anything cut off. JSON goes to stdout alone, as one document; NaN is null and the infinities are "inf" and
"-inf", because JSON has no such numbers.
"""

from __future__ import annotations

import contextlib
import math
import os
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

from paddock import wire
from paddock.compare.fields import MISSING
from paddock.compare.text import aligned, clean, width

Cell = str | tuple[str, str]  # text, or text and a style of rich
HUMAN, JSON, QUIET = "human", "json", "quiet"
UNLIMITED = 1 << 20  # columns of a pipe


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

    @cached_property
    def width(self) -> int:
        """Columns of the terminal; without one nothing is ever cut."""
        return shutil.get_terminal_size((80, 24)).columns if self.terminal else UNLIMITED

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

    def parts(self, line: Sequence[tuple[str, str]]) -> None:
        """One line of pieces, each in a style of its own."""
        if self.human:
            self._print_cells("", [clean(text) for text, _ in line], [style for _, style in line], between="")

    def raw(self, text: str) -> None:
        """Text that is printed as it is (the caller has cleaned it), whatever the mode."""
        sys.stdout.write(text)

    def heading(self, text: str) -> None:
        if self.human:
            self._print("")
            self._print(clean(text), "bold")

    def note(self, *texts: str) -> None:
        """Something beside the result, one a line: to stderr, so that a pipe carries the result alone."""
        if self.human:
            self._beside("".join(f"{clean(text)}\n" for text in texts))

    def trouble(self, text: str) -> None:
        """Something went wrong beside the result: to stderr, also for who wants it quiet. Programs find it in the
        result."""
        if self.mode != JSON:
            self._beside(f"{clean(text)}\n")

    @staticmethod
    def _beside(text: str) -> None:
        """Who reads it may be gone (`| tee` after Ctrl-C, a closed terminal): no reason to leave work undone."""
        try:
            sys.stderr.write(text)
            sys.stderr.flush()
        except OSError:
            with contextlib.suppress(OSError):  # or Python complains of the same while it exits
                os.dup2(os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC), sys.stderr.fileno())

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
        titles = [clean(header) for header in headers]
        cells = [[_clean_cell(cell) for cell in row] for row in rows]
        sides = list(right) or [False] * len(titles)
        lines = aligned([titles, *([text for text, _ in row] for row in cells)], sides)
        wide = sum(map(width, lines[0])) + 2 * (len(titles) - 1)
        if self.terminal and wide + indent > self.width:
            self._folded_table(titles, cells, sides)
            return
        styles = [["bold"] * len(titles), *([style for _, style in row] for row in cells)]
        for line, style in zip(lines, styles, strict=True):
            self._print_cells(" " * indent, line, style)

    def flush(self) -> None:
        sys.stdout.flush()

    @cached_property
    def _console(self) -> Any:
        from rich.console import Console

        return Console(file=sys.stdout, markup=False, highlight=False, emoji=False, width=self.width)

    def _print(self, text: str, style: str = "") -> None:
        if self.terminal and style:
            self._console.print(_text(text, style), soft_wrap=True)
        else:
            sys.stdout.write(text + "\n")

    def _print_pair(self, name: str, text: str, style: str) -> None:
        if not self.terminal:
            sys.stdout.write(f"{name}{text}".rstrip() + "\n")
            return
        line = _text("")
        line.append(name, "dim").append(text, style or None)
        self._console.print(line, soft_wrap=True)

    def _print_cells(self, indent: str, line: Sequence[str], styles: Sequence[str], between: str = "  ") -> None:
        if not self.terminal:
            sys.stdout.write((indent + between.join(line)).rstrip() + "\n")
            return
        text = _text(indent)
        for i, (cell, style) in enumerate(zip(line, styles, strict=True)):
            text.append(between if i else "").append(cell, style or None)
        text.rstrip()
        self._console.print(text, soft_wrap=True)

    def _folded_table(
        self, headers: Sequence[str], rows: Sequence[Sequence[tuple[str, str]]], right: Sequence[bool]
    ) -> None:
        """For a terminal that is too narrow: rich breaks the cells into lines."""
        from rich.table import Table

        table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
        for i, (header, side) in enumerate(zip(headers, right, strict=True)):
            whole = max((width(row[i][0]) for row in rows), default=0) if header == "id" else None  # it is copied
            table.add_column(
                _text(header, "bold"),
                justify="right" if side else "left",
                overflow="fold",
                no_wrap=whole is not None,
                min_width=whole,
            )
        for row in rows:
            table.add_row(*(_text(text, style) for text, style in row))
        self._console.print(table)


def _clean_cell(cell: Cell) -> tuple[str, str]:
    text, style = _split(cell)
    return clean(text), style


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
    if isinstance(value, wire.Raw):
        return value
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

"""Rows of styled text, before they are a terminal's: pieces in, pieces out. Foreign text is cleaned here.

A piece is a text and a style of rich's ("bold red"). Columns are counted, not letters: CJK and emoji take two.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from paddock.compare.text import clean, cut_to, width
from paddock.monitor.now.picture import Figure

Span = tuple[str, str]
Row = list[Span]
_EIGHTHS = " ▏▎▍▌▋▊▉█"
_TICKS = "▁▂▃▄▅▆▇█"


def plain(row: Iterable[Span]) -> str:
    return "".join(text for text, _ in row)


def fit(text: str, room: int, right: bool = False) -> str:
    """In exactly so many columns."""
    text = cut_to(clean(text), room) if room > 0 else ""
    gap = " " * max(0, room - width(text))
    return gap + text if right else text + gap


def tail(text: str, room: int) -> str:
    """The end of a path says more than its beginning."""
    text = clean(text)
    return text if width(text) <= room else "…" + cut_to(text[::-1], room)[:-1][::-1]


def crop(row: Row, room: int) -> Row:
    """In exactly so many columns, whatever it was."""
    found: Row = []
    for text, style in row:
        size = width(text)
        if size >= room:
            found.append((fit(text, room), style) if size > room else (text, style))
            return found
        found.append((text, style))
        room -= size
    found.append((" " * room, ""))
    return found


def bar(share: float, room: int, done: str, rest: str = "bright_black", ascii_only: bool = False) -> Row:
    if ascii_only:
        full = int(share * room)
        return [("#" * full, done), ("." * (room - full), rest)]
    eighths = int(share * room * 8)
    full, part = divmod(eighths, 8)
    head = "█" * full + (_EIGHTHS[part] if part and full < room else "")
    # The rest is dots, not spaces: where colours are missing one still sees how long it is.
    return [(head, done), ("·" * (room - len(head)), rest)]


def curve(values: Sequence[Figure], room: int, ascii_only: bool = False) -> str:
    """The shape of a series in one line; what is no number is a gap."""
    shown = values[-room:] if len(values) <= room else [values[i * len(values) // room] for i in range(room)]
    numbers = [value for value in shown if isinstance(value, (int, float))]
    if not numbers or ascii_only:
        return ""
    low, high = min(numbers), max(numbers)
    scale = (len(_TICKS) - 1) / (high - low) if high > low else 0.0
    return "".join(_TICKS[round((value - low) * scale)] if isinstance(value, (int, float)) else " " for value in shown)


@dataclass
class Column:
    title: str
    cells: Sequence[Row]
    right: bool = False
    least: int = 0  # columns that it keeps when room is short; 0: all that it needs
    most: int = 1 << 20
    grows: bool = False  # takes what is left over
    optional: int = 0  # left out when there is no room, the highest first; 0: never

    @property
    def needs(self) -> int:
        return min(self.most, max(width(self.title), max((_wide(cell) for cell in self.cells), default=0)))


GAP = 2
LUXURY = 6  # optional columns from here on go before any other is cut


def table(columns: Sequence[Column], room: int) -> list[Row]:
    """A title and the rows, none wider than there is room for."""
    kept = [column for column in columns if not column.optional or any(map(_wide, column.cells))]
    while (spare := [column for column in kept if column.optional >= LUXURY]) and needed(kept) > room:
        kept.remove(max(spare, key=lambda column: column.optional))
    while True:
        widths = [column.needs for column in kept]
        over = _shrink(kept, widths, needed(kept) - room)
        spare = [column for column in kept if column.optional]
        if over <= 0 or not spare:
            break
        kept.remove(max(spare, key=lambda column: column.optional))
    if over < 0:
        growing = [i for i, column in enumerate(kept) if column.grows]
        for n, i in enumerate(growing):
            widths[i] += -over // len(growing) + (1 if n < -over % len(growing) else 0)
    rows = max((len(column.cells) for column in kept), default=0)
    found = [_joined([[(c.title, "dim")] for c in kept], widths, kept)]
    found += [_joined([column.cells[i] for column in kept], widths, kept) for i in range(rows)]
    return [crop(row, room) for row in found]


def needed(columns: Sequence[Column]) -> int:
    """Columns of the terminal."""
    return sum(column.needs for column in columns) + GAP * (len(columns) - 1)


def _shrink(columns: Sequence[Column], widths: list[int], over: int) -> int:
    """The widest of those that can be cut gives way first; how much is still too much."""
    while over > 0:
        able = [i for i, column in enumerate(columns) if column.least and widths[i] > column.least]
        if not able:
            break
        widths[max(able, key=lambda i: widths[i])] -= 1
        over -= 1
    return over


def _joined(cells: Sequence[Row], widths: Sequence[int], columns: Sequence[Column]) -> Row:
    row: Row = []
    for i, (cell, wide, column) in enumerate(zip(cells, widths, columns, strict=True)):
        if i:
            row.append((" " * GAP, ""))
        if len(cell) == 1:
            row.append((fit(cell[0][0], wide, column.right), cell[0][1]))
        else:
            row += crop([(clean(text), style) for text, style in cell], wide)
    return row


def _wide(cell: Row) -> int:
    return sum(width(clean(text)) for text, _ in cell)

"""Which of the lines that a server shows first were told by the one before it. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from paddock.monitor.now.picture import PRINT, Line


def repeated(known: Sequence[Line], found: Sequence[Line]) -> frozenset[int]:
    """The numbers of those among `found`. A log line is known by its time; what was printed has none of its own, but
    an order: it is known as far as what was told last, wherever it stands among the found."""
    logged = {_logged(line) for line in known if line.logger != PRINT}
    again = {line.n for line in found if line.logger != PRINT and _logged(line) in logged}
    for run in {line.run for line in found if line.logger == PRINT}:
        before = [line.text for line in known if line.run == run and line.logger == PRINT]
        after = [line for line in found if line.run == run and line.logger == PRINT]
        again |= {line.n for line in after[: _told(before, [line.text for line in after])]}
    return frozenset(again)


def _logged(line: Line) -> tuple[object, ...]:
    return line.run, line.time, line.text, line.logger, line.host, line.rank


def _told(before: Sequence[str], after: Sequence[str]) -> int:
    """How many of `after` were told: the longest beginning that ends as `before` does."""
    if not before:
        return 0
    for end in range(len(after), 0, -1):
        shared = min(end, len(before))
        if list(before[-shared:]) == list(after[end - shared : end]):
            return end
    return 0

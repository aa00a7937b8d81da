"""A run's state at this moment, from the journals that were read and the processes that are there."""

from __future__ import annotations

from collections.abc import Iterable

from paddock.catalog.liveness import Here, alive, process
from paddock.catalog.state import Verdict, decide
from paddock.catalog.writer import Seen


def verdict(writers: Iterable[Seen], now: Here) -> Verdict:
    return decide(process(seen, now) for seen in writers if seen.lines)


def torn_lines(writers: Iterable[Seen], now: Here) -> int:
    """Unfinished last lines that nobody is left to finish."""
    return sum(1 for seen in writers if seen.torn and not alive(seen, now))

"""A run's state at this moment, from the journals that were read and the processes that are there."""

from __future__ import annotations

from collections.abc import Iterable

from paddock.catalog.liveness import Here, alive, process
from paddock.catalog.state import Verdict, decide
from paddock.catalog.writer import Seen
from paddock.model import RUNNING


def verdict(writers: Iterable[Seen], now: Here, created: float) -> Verdict:
    known = [process(seen, now) for seen in writers if seen.lines]
    if not known and abs(now.wall - created) < now.lost_seconds:
        return Verdict(RUNNING, "starting")  # its directory is made first, its journal opened last
    return decide(known)


def torn_lines(writers: Iterable[Seen], now: Here) -> int:
    """Unfinished last lines that nobody is left to finish."""
    return sum(1 for seen in writers if seen.torn and not alive(seen, now))

"""The newest first: which priority an evaluation gets among those that wait. Pure.

The priority is a moment, so that the newest of one training does not always wait for those of another whose steps are
larger. Within a training it is the step that counts. All are negative: whatever else is in the queue goes before.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate

from paddock.evaluate.policy.standing import Standing

_ZERO = 2_700_000_000  # seconds since 1970 that are priority 0: in the year 2055
_LEAST, _MOST = -999_999_999, -1  # nine digits is what a file's name has room for


def urgencies(coming: Sequence[Standing], waiting: Iterable[tuple[Standing, int]], now: float) -> dict[str, int]:
    """The priority of each that comes, by its key: above all that wait with a smaller step, below those with a larger.
    Where there is no room between the two it is as urgent as the smaller."""
    placed = sorted((one.order, priority) for one, priority in waiting)
    orders = [order for order, _ in placed]
    highest_below = list(accumulate((priority for _, priority in placed), max))
    lowest_above = list(accumulate((priority for _, priority in reversed(placed)), min))[::-1]
    found: dict[str, int] = {}
    limit = _MOST + 1  # the last one placed has a larger step
    for one in sorted(coming, key=lambda one: one.order, reverse=True):
        wanted = round(now) - _ZERO
        below, above = bisect_left(orders, one.order), bisect_right(orders, one.order)
        if below:
            wanted = max(wanted, highest_below[below - 1] + 1)
        if above < len(orders):
            wanted = min(wanted, lowest_above[above] - 1)
        found[one.key] = limit = max(_LEAST, min(limit - 1, wanted))
    return found

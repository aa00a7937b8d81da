"""Waiting until tasks are over."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from paddock.queue.lifecycle import DONE, FAILED
from paddock.queue.protocol import AWAY, Queue
from paddock.queue.show.view import IN_ORDER

GONE = "gone"  # removed, which is how tasks are cancelled
_FIRST_SECONDS, _MOST_SECONDS = 0.02, 1.0  # between two looks
_SHARE = 0.1  # of the time at most that is spent with listing a large queue


def wait_until_over(
    queue: Queue,
    ids: Iterable[str],
    timeout: float | None = None,
    tell: Callable[[str, str], None] = lambda task, state: None,
    meanwhile: Callable[[], None] = lambda: None,
    away: Callable[[str], None] | None = None,
) -> dict[str, str]:
    """Each task that is over by then, with done, failed or gone; `tell` hears of each at once, and `meanwhile` is
    called before each look. By listings: a name that is asked for again and again stays missing on NFS. That a task is
    nowhere is believed when two whole listings say so; a failed one that has retries left is queued again by the same
    rename, and is not over. `away` hears why a queue cannot be asked, which is waited for then; without it that is
    raised."""
    waiting = dict.fromkeys(ids, 0)  # -> in how many listings in a row it was missing
    over: dict[str, str] = {}
    end = None if timeout is None else time.monotonic() + timeout
    pause = _FIRST_SECONDS
    while waiting:
        meanwhile()
        began = time.monotonic()
        try:
            queue.tend()
            listing = queue.list(IN_ORDER)
        except AWAY as error:
            if away is None or (end is not None and began >= end):
                raise
            away(str(error))
            time.sleep(_MOST_SECONDS if end is None else max(0.0, min(_MOST_SECONDS, end - began)))
            continue
        states = {place.id: place.state for place in listing.places if place.token is None}
        present = {place.id for place in listing.places}
        for task in list(waiting):
            state = states.get(task, "")
            waiting[task] = 0 if task in present or not listing.sure else waiting[task] + 1
            if state in (DONE, FAILED) or waiting[task] > 1:
                over[task] = state if state in (DONE, FAILED) else GONE
                del waiting[task]
                tell(task, over[task])
        now = time.monotonic()
        if not waiting or (end is not None and now >= end):
            break
        pause = min(pause * 1.3, _MOST_SECONDS)
        wanted = max(pause, (now - began) / _SHARE)
        time.sleep(wanted if end is None else max(0.0, min(wanted, end - now)))
    return over

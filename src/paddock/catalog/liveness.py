"""Whether a writer still lives, judged without comparing two hosts' clocks where that can be avoided.

On this host and since its last boot: its process exists, by pid and start time. Elsewhere: its journal was seen to
grow within `lost_seconds` of our own clock (a living writer beats every few seconds). Only a journal that nobody has
looked at for long is judged by the time that it carries itself. A copy of a journal is judged like one from elsewhere:
its process may live, but writes to the original. In a run of another name it shows no life at all; nor does one that a
server got from where its process was known to have ended, however much of it still comes.
"""

from __future__ import annotations

import os
import socket
import time
from typing import NamedTuple

from paddock.catalog.state import Process
from paddock.catalog.writer import Seen
from paddock.record.process import boot_id, exists, oom_kills

_GRACE = 5.0  # seconds that another host's clock may be off before its silence is believed at first sight
_BACK_OFF_AFTER, _BACK_OFF_MOST = 3600.0, 600.0  # seconds
_DENSE = 3.0  # looks at most this many times lost_seconds apart count as watching


class Here(NamedTuple):
    """The observer: this host, this boot, this moment."""

    host: str
    boot: str
    clock: float  # seconds since boot, sleep included
    wall: float
    lost_seconds: float
    oom: int  # out-of-memory kills since boot


def here(lost_seconds: float) -> Here:
    clock = time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()
    return Here(socket.gethostname(), boot_id(), clock, time.time(), lost_seconds, oom_kills())


def alive(seen: Seen, now: Here) -> bool:
    if seen.over or seen.origin or seen.gone:
        return False
    if judged_by_process(seen, now):
        return seen.boot == now.boot and exists(seen.pid, seen.start)
    if seen.clock != now.boot or not seen.clock:
        return not _silent(seen, now)
    return not seen.stale and now.clock - seen.changed <= now.lost_seconds


def final(seen: Seen, now: Here) -> bool:
    """Nothing more will come from it: it said so, or its process has been gone for so long that one which only
    cannot be seen from here would have beaten."""
    if seen.over:
        return True
    return (
        judged_by_process(seen, now)
        and seen.missing == seen.size
        and seen.clock == now.boot
        and now.clock - seen.missing_at > now.lost_seconds
    )


def note_size(seen: Seen, size: int, now: Here) -> None:
    """The file was looked at (and read, so that `seen.seen` is what it says): remember when we saw it change."""
    if seen.clock == now.boot and size == seen.size:
        return
    watched = seen.clock == now.boot and now.clock - seen.changed <= _DENSE * now.lost_seconds
    if 0 <= seen.missing < size:
        seen.elsewhere, seen.missing = True, -1
    if seen.clock != now.boot:
        seen.missing = -1  # it was noted by a clock that is gone
    seen.size, seen.changed, seen.clock = size, now.clock, now.boot
    seen.stale = not watched and _silent(seen, now)


def note_gone(seen: Seen, path: str, now: Here) -> None:
    """Remember that its process was not there, and how long its file was then: should the file grow yet, the
    process lives where we cannot see it. The size is taken after the process was looked for, never before."""
    if seen.over or seen.missing >= 0 or not judged_by_process(seen, now) or alive(seen, now):
        return
    try:
        seen.missing = os.stat(path).st_size
    except OSError:
        return
    seen.missing_at = now.clock
    seen.suspect = seen.boot == now.boot and 0 <= seen.oom < now.oom


def process(seen: Seen, now: Here) -> Process:
    return Process(
        role=seen.role,
        attempt=seen.attempt,
        rank=seen.rank,
        alive=alive(seen, now),
        end=seen.end,
        exits=seen.exits,
        started=seen.started,
        seen=seen.seen,
        host=seen.host,
        oom=seen.suspect,
        origin=seen.origin,
    )


def silence(seen: Seen, now: Here) -> float:
    """For how long it has shown nothing, as well as we know."""
    watched = now.clock - seen.changed if seen.clock == now.boot else 0.0
    return max(watched, now.wall - seen.seen if seen.stale else 0.0)


def look_at(writers: list[Seen], now: Here) -> float:
    """When a run should be looked at again that nothing has been heard of for hours; 0 for any other."""
    if any(alive(seen, now) for seen in writers):
        return 0.0
    quiet = min((silence(seen, now) for seen in writers if not final(seen, now)), default=0.0)
    return now.wall + min(quiet / 60, _BACK_OFF_MOST) if quiet > _BACK_OFF_AFTER else 0.0


def judged_by_process(seen: Seen, now: Here) -> bool:
    known = bool(now.boot and seen.boot and seen.pid) and seen.host == now.host
    return known and not seen.elsewhere and seen.in_place


def _silent(seen: Seen, now: Here) -> bool:
    return now.wall - seen.seen > now.lost_seconds + _GRACE

"""Progress as the index knows it: each process's share in each piece of work, and what they come to together.

Everything here is decided from what the records say and which processes live; nothing is read.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise
from typing import Any

import msgspec

from paddock import wire
from paddock.catalog.writer import fits, moment
from paddock.model import FAILED, FINISHED, KILLED, LOST, RUNNING, Progress

DONE = "done"
SHARED = "shared."  # how the id of a bar begins that several processes have made together
INFO = "state.progress"  # what log_info() may say
_SAMPLES = 16  # that are kept of how the work went on
_MOST_APART = 60.0  # seconds between them, however long it takes
_LEAST_SECONDS = 0.05  # over which a rate is taken
_RESTS, _REST_SECONDS = 20, 30.0  # units that could have been done meanwhile, and at least so long: it stands still
_ALMOST = 0.99  # as much as something that has failed can have done


class Share(msgspec.Struct):
    """What one process said of one piece of work."""

    id: str
    writer: str
    started: float = 0.0
    seen: float = 0.0
    done: int | float = 0
    total: int | float | None = None
    msg: tuple[str, ...] = ()
    unit: str | None = None
    state: str = RUNNING
    into: str = ""  # the id that it goes by since
    samples: list[tuple[float, float]] = []  # time, done

    @property
    def maker(self) -> bool:
        """Its end is the end of the work: others only did a part."""
        return self.id.startswith(SHARED) or self.id.startswith(self.writer + ".")


unpack = wire.unpacker(Share).decode


def take(share: Share | None, record: dict[str, Any], writer: str) -> Share | None:
    """The share after one more record; None when that says nothing that can be understood."""
    id, done = record.get("id"), number(record.get("done"))
    if not isinstance(id, str) or not id or done is None:
        return share
    t = moment(record)
    if share is None:
        share = Share(id, writer, started=t)
    into, state = record.get("into"), record.get("state")
    if isinstance(into, str) and into:
        share.into = into
        return share
    share.seen, share.done, share.total = max(t, share.seen), done, number(record.get("total"))
    share.state = state if state in (RUNNING, DONE, FAILED) else RUNNING
    said, unit = record.get("msg"), record.get("unit")
    share.msg = tuple(map(str, said)) if isinstance(said, list) else (str(said),) if said else ()
    share.unit = unit if isinstance(unit, str) else None
    share.samples = _sampled(share.samples, (t, float(done)), t - share.started)
    return share


def _sampled(samples: list[tuple[float, float]], new: tuple[float, float], span: float) -> list[tuple[float, float]]:
    """The last few moments, and the newest. The longer the work takes, the further apart they are."""
    if samples and (new[1] < samples[-1][1] or new[0] < samples[-1][0]):
        return [new]  # it began anew, or the clock was set
    if len(samples) >= 2 and samples[-1][0] - samples[-2][0] < min(span / (2 * _SAMPLES), _MOST_APART):
        return [*samples[:-1], new]
    return [*samples, new][-_SAMPLES:]


def gather(shares: Iterable[Share], living: Collection[str]) -> list[Progress]:
    """Each piece of work over all who did a part, in the order they were begun. `living`: the writers that live."""
    known = list(shares)
    renamed = {share.id: share.into for share in known if share.into}
    groups: dict[str, list[Share]] = {}
    for share in known:
        if not share.into:
            groups.setdefault(renamed.get(share.id, share.id), []).append(share)
    found = [_together(id, group, living) for id, group in groups.items()]
    return sorted(found, key=lambda bar: (bar.started, bar.id))


def _together(id: str, shares: list[Share], living: Collection[str]) -> Progress:
    shares.sort(key=lambda share: (share.started, share.writer))
    first = next((share for share in shares if share.maker), shares[0])
    totals = [share.total for share in shares if share.total is not None]
    state = _state(shares, living)
    done, total = sum(share.done for share in shares), max(totals, default=None)
    rate = pace([share.samples for share in shares])
    return Progress(
        id=id,
        msg=first.msg,
        done=done if type(done) is int and fits(done) else float(done),
        total=total,
        unit=first.unit,
        state=state,
        fraction=_fraction(done, total, state),
        rate=rate,
        eta=max(0.0, total - done) / rate if state == RUNNING and rate and total is not None else None,
        started=min(share.started for share in shares),
        seen=max(share.seen for share in shares),
        writers=tuple(share.writer for share in shares),
    )


def _state(shares: list[Share], living: Collection[str]) -> str:
    if any(share.state == FAILED for share in shares):
        return FAILED
    makers = [share for share in shares if share.maker] or shares
    waited_for = [share for share in makers if share.state == RUNNING]
    if not waited_for:
        return DONE
    return RUNNING if any(share.writer in living for share in waited_for) else LOST


def _fraction(done: float, total: float | None, state: str) -> float | None:
    if total is None or total <= 0:
        return 1.0 if state == DONE and total is not None else None
    return max(0.0, min(done / total, _ALMOST if state in (FAILED, LOST) else 1.0))


def pace(series: Sequence[Sequence[tuple[float, float]]]) -> float | None:
    """Units a second at which a typical unit was done lately: the median over the work, not over the time. So a pause
    (a suspended machine, a checkpoint) does not count, and neither does the first slow step."""
    steps = sorted(
        (after[0], before[0], after[1] - before[1]) for samples in series for before, after in pairwise(samples)
    )
    if not steps:
        return None
    rates: list[tuple[float, float]] = []
    count = math.ceil(len(steps) / _SAMPLES)
    begun = min(step[1] for step in steps)
    work = 0.0
    for at in range(0, len(steps), count):
        group = steps[at : at + count]
        work += sum(step[2] for step in group)
        seconds = group[-1][0] - begun
        if seconds < _LEAST_SECONDS:  # too short to tell: it is counted with what comes next
            continue
        if work > 0:
            rates.append((work / seconds, work))
        begun, work = group[-1][0], 0.0
    return _median(sorted(rates))


def _median(weighted: list[tuple[float, float]]) -> float | None:
    half, so_far = sum(weight for _, weight in weighted) / 2, 0.0
    for value, weight in weighted:
        so_far += weight
        if so_far >= half:
            return value
    return None


def main_one(bars: Sequence[Progress]) -> Progress | None:
    """What a listing shows of a run: the outermost work under way, else what was heard of last."""
    running = [bar for bar in bars if bar.state == RUNNING]
    return running[0] if running else max(bars, key=lambda bar: bar.seen, default=None)


def without(bar: Progress, living: Collection[str]) -> Progress:
    """A bar that was read as running, by now: lost when nobody who did it lives."""
    if bar.state != RUNNING or any(writer in living for writer in bar.writers if _made(bar, writer)):
        return bar
    return msgspec.structs.replace(bar, state=LOST, eta=None, fraction=_fraction(bar.done, bar.total, LOST))


def over(bar: Progress, state: str) -> Progress:
    """A bar of a run that is in this state by now."""
    if bar.state != RUNNING or state == RUNNING:
        return bar
    ended = {FINISHED: DONE, KILLED: FAILED}.get(state, state) if bar.id == INFO else LOST
    return msgspec.structs.replace(bar, state=ended, eta=None, fraction=_fraction(bar.done, bar.total, ended))


def by_now(bar: Progress, heard: float) -> Progress:
    """A bar that stands still while those who do it are still heard of: nobody knows any more when it is done. `heard`
    is by the same clocks as the bar's own times."""
    quiet = heard - bar.seen
    if bar.state != RUNNING or not bar.rate or quiet < max(_RESTS / bar.rate, _REST_SECONDS):
        return bar
    return msgspec.structs.replace(bar, rate=None, eta=None)


def _made(bar: Progress, writer: str) -> bool:
    return bar.id == INFO or bar.id.startswith(SHARED) or bar.id.startswith(writer + ".")


def by_info(value: Any, started: float | None, said: float, writers: Sequence[str]) -> Progress | None:
    """`log_info({"state.progress": 0.5})` is progress, too: a part of 1, or percents when it is more."""
    done = number(value)
    if done is None or done < 0:
        return None
    total = 1 if done <= 1 else 100
    seconds = said - started if started is not None else 0.0
    rate = done / seconds if done > 0 and seconds > 0 else None
    return Progress(
        id=INFO,
        msg=("progress",),
        done=done,
        total=total,
        unit=None,
        state=RUNNING,
        fraction=_fraction(done, total, RUNNING),
        rate=rate,
        eta=max(0.0, total - done) / rate if rate else None,
        started=started or said,
        seen=said,
        writers=tuple(writers),
    )


def number(value: Any) -> int | float | None:
    if type(value) is int:
        return value if fits(value) else None
    return value if type(value) is float and math.isfinite(value) else None

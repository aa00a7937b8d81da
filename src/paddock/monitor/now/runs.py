"""The runs of this minute: those that run, and those that ended lately.

What ended long ago cannot change unseen: a new attempt or a note makes a file, and so a new time of its directory. So a
look asks the disk for the runs that are open and for new ones only; all are looked through now and then, the more
rarely the longer that takes.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import Any

from paddock.catalog.catalog import Catalog
from paddock.catalog.refresh import list_runs
from paddock.errors import HomeError
from paddock.model import FINISHED, LOST, RUNNING, Progress, RunRow
from paddock.monitor.now.stall import Pace, pace
from paddock.record.layout import ID_PATTERN, Home

RECENT_SECONDS = 3600.0  # ended so long ago at most
MOST_ENDED = 100
MOST_BARS, MOST_ALERTS = 8, 20  # of a run
SWEEP_SECONDS, SWEEP_SHARE = 10.0, 200.0  # between two looks at all runs; and that many times what the last one took
KINDS = ("alert",)
_TRUSTED_AGE = 2_000_000_000  # ns: a directory changed later than that may change again without a new mtime


class Story:
    """What is remembered of a run from look to look."""

    def __init__(self, row: RunRow) -> None:
        self.row = row
        self.bars: tuple[Progress, ...] = ()
        self.advanced = 0.0  # when a bar last got on, by the clock of whoever did it
        self.pace = Pace()
        self.alerts: list[dict[str, Any]] = []
        self.lost_since = 0.0  # by our clock

    def works_on(self, bars: list[Progress]) -> None:
        """What is under way first, in the order in which it was begun; then what ended last."""
        before = {bar.id: bar.done for bar in self.bars}
        for bar in bars:
            if before.get(bar.id) != bar.done:
                self.advanced = max(self.advanced, bar.seen)
        running = [bar for bar in bars if bar.state == RUNNING]
        over = sorted((bar for bar in bars if bar.state != RUNNING), key=lambda bar: -bar.seen)
        self.bars = tuple([*running, *over][:MOST_BARS])


class Runs:
    def __init__(self, home: Home, catalog: Catalog) -> None:
        self._home, self._catalog = home, catalog
        self.stories: dict[str, Story] = {}
        self.unreadable: tuple[str, ...] = ()
        self._times: dict[str, int] = {}  # of every run's journals, when all were looked through
        self._known: set[str] = set()
        self._listed = -1  # mtime of runs/ when it was listed
        self._place = 0  # up to which records were read
        self._sweep_at = 0.0

    def is_there(self, run_id: str) -> bool:
        return run_id in self._known or run_id in self.stories

    def look(self, expected: Mapping[str, Any]) -> dict[str, Story]:
        """`expected`: ids of which somebody knows that they run, or ran a moment ago."""
        clock = time.monotonic()
        if clock >= self._sweep_at:
            began = time.process_time()
            changed = self._sweep()
            self._sweep_at = clock + max(SWEEP_SECONDS, SWEEP_SHARE * (time.process_time() - began))
        else:
            changed = self._new()
        wanted = {run_id for run_id, story in self.stories.items() if self._is_open(story, clock)}
        wanted |= changed | {run_id for run_id in expected if run_id in self._known}
        self._catalog.refresh_some(wanted)
        rows = self._catalog.some_runs(wanted)
        self._take(rows, clock)
        for run_id in [run_id for run_id in wanted if not os.path.isdir(self._home.runs / run_id)]:
            self.stories.pop(run_id, None)
        self._forget()
        return self.stories

    def _sweep(self) -> set[str]:
        """The runs whose directory is not as it was."""
        listing = list_runs(self._home)
        self._catalog.refresh()
        self.unreadable = self._catalog.unreadable
        before, self._times = self._times, listing.runs
        self._known = set(listing.runs)
        for run_id in [run_id for run_id in self.stories if run_id not in listing.runs]:
            del self.stories[run_id]
        if not before:
            return _worth_telling([row for row in self._catalog.runs() if row.id in listing.runs], time.time())
        return {run_id for run_id, mtime in listing.runs.items() if before.get(run_id) != mtime}

    def _new(self) -> set[str]:
        """Runs that have come since all were listed."""
        try:
            mtime = os.stat(self._home.runs).st_mtime_ns
            if mtime == self._listed:
                return set()
            names = os.listdir(self._home.runs)
        except FileNotFoundError:
            return set()
        except OSError as error:
            raise HomeError(f"The runs in {self._home.runs} cannot be listed ({error.strerror or error}).") from None
        self._listed = mtime if time.time() * 1e9 - mtime > _TRUSTED_AGE else -1
        found = {name for name in names if name not in self._known and ID_PATTERN.fullmatch(name)}
        self._known |= found
        return found

    def _is_open(self, story: Story, clock: float) -> bool:
        """Whether something may yet come from it. One that was lost may be heard of again, but not for ever."""
        if story.row.state == LOST:
            return clock - story.lost_since < RECENT_SECONDS
        return story.row.state == RUNNING

    def _take(self, rows: list[RunRow], clock: float) -> None:
        moved, new = [], []
        for row in rows:
            story = self.stories.get(row.id)
            if story is None:
                story = self.stories[row.id] = Story(row)
                new.append(row.id)
            elif (story.row.seen, story.row.state) != (row.seen, row.state) or story.row.metrics != row.metrics:
                moved.append(row.id)
            if row.state == LOST and (story.row.state != LOST or not story.lost_since):
                story.lost_since = clock
            story.row = row
        self._read_records(new)
        for run_id in (*new, *moved):
            self.stories[run_id].works_on(self._catalog.progress(run_id, MOST_BARS))
        stepping = [run_id for run_id in (*new, *moved) if self.stories[run_id].row.state in (RUNNING, LOST)]
        if stepping:
            found = self._catalog.recent_steps(stepping)
            for run_id in stepping:
                self.stories[run_id].pace = pace([one.time for one in found.get(run_id, ())])

    def _read_records(self, new: list[str]) -> None:
        """Of new ones all, of the others what came since the last look."""
        before, fresh = self._place, set(new)
        old = [run_id for run_id in self.stories if run_id not in fresh]
        later = self._catalog.records_after(old, before, KINDS)
        if later.afresh:
            for run_id in old:
                self.stories[run_id] = Story(self.stories[run_id].row)
        found = [*later.records, *(self._catalog.records_after(new, 0, KINDS).records if new else ())]
        for run_id, _, record in found:
            self.stories[run_id].alerts = [*self.stories[run_id].alerts[1 - MOST_ALERTS :], record]
        self._place = later.place

    def _forget(self) -> None:
        """What ended long ago, and of very many that ended lately the earliest."""
        kept = _worth_telling([story.row for story in self.stories.values()], time.time())
        for run_id in [run_id for run_id in self.stories if run_id not in kept]:
            del self.stories[run_id]


def _worth_telling(rows: list[RunRow], now: float) -> set[str]:
    """What runs, and what ended lately; of very many that did the latest. What ended well never takes the place of what
    did not: a sweep that finishes hides no run that is lost."""
    ended = [row for row in rows if row.state != RUNNING and _is_recent(row, now)]
    ended.sort(key=_ended_at, reverse=True)
    well = [row for row in ended if row.state == FINISHED]
    badly = [row for row in ended if row.state != FINISHED]
    kept = {row.id for row in (*well[:MOST_ENDED], *badly[:MOST_ENDED])}
    return kept | {row.id for row in rows if row.state == RUNNING}


def _ended_at(row: RunRow) -> float:
    return row.ended or row.seen or row.created


def _is_recent(row: RunRow, now: float) -> bool:
    return row.state == RUNNING or now - _ended_at(row) < RECENT_SECONDS

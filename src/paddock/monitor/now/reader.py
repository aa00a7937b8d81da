"""The picture of a home, read again and again: each look costs what has changed since the last one."""

from __future__ import annotations

import os
import time
from collections import Counter

import msgspec

from paddock.catalog.catalog import Catalog
from paddock.compare.select import EVERYTHING, Query, fits
from paddock.model import PAUSED, QUEUED, RUNNING, MetricStat, Progress, Question, RunRow
from paddock.monitor.now import picture, stall
from paddock.monitor.now.hosts import HostReader
from paddock.monitor.now.picture import Now, Run
from paddock.monitor.now.queues import QueueReader
from paddock.monitor.now.runs import Runs, Story
from paddock.monitor.now.watches import WatchReader, figure
from paddock.queue import lifecycle
from paddock.queue.lifecycle import Place
from paddock.record.layout import Home

VALUES = 8  # metrics of each run
_WAITS = {lifecycle.QUEUED: QUEUED, lifecycle.CHECKING: QUEUED, lifecycle.PAUSED: PAUSED}


class HomeReader:
    """Not for two threads at once."""

    def __init__(self, home: Home, catalog: Catalog) -> None:
        self.home, self.catalog = home, catalog
        self._runs = Runs(home, self.catalog)
        self._queues = QueueReader(home)
        self._watches = WatchReader(home)
        self._hosts = HostReader(home)
        self._host = os.uname().nodename

    @property
    def stories(self) -> dict[str, Story]:
        return self._runs.stories

    def knows(self, run_id: str) -> bool:
        """As a run, or as a task that waits."""
        return self._runs.is_there(run_id) or run_id in self._queues.places()

    def look(self, query: Query = EVERYTHING) -> Now:
        now = time.time()
        queues = self._queues.look()
        stories = self._runs.look(self._queues.begun())
        places = self._queues.places()
        asked = self.catalog.questions()
        waiting = Counter(question.run for question in asked)
        chosen = [story for story in stories.values() if query is EVERYTHING or fits(story.row, query, now)]
        runs = [self._run(story, places.get(story.row.id), waiting[story.row.id], now) for story in chosen]
        runs.sort(key=_rank)
        shown = {run.id: run for run in runs}
        questions = tuple(_question(one, shown[one.run].name) for one in asked if one.run in shown)
        busy = Counter(run.host for run in runs if run.state == RUNNING)
        return Now(
            time=now,
            home=str(self.home.path),
            host=self._host,
            counts=_counts(runs),
            runs=tuple(runs),
            queues=queues.queues,
            tasks=queues.tasks if query is EVERYTHING else tuple(t for t in queues.tasks if t.id in shown),
            workers=queues.workers,
            watches=self._watches.look(self._queues.evaluations),
            hosts=self._hosts.look(busy, queues.workers, {run.id: run.name for run in runs if run.state == RUNNING}),
            questions=questions,
            alerts=tuple(sorted((a for story in chosen for a in _alerts(story)), key=lambda alert: -alert.time)[:20]),
            troubles=self._troubles(queues.queues),
        )

    def _run(self, story: Story, place: Place | None, questions: int, now: float) -> Run:
        row, pace = story.row, story.pace
        state = _WAITS.get(place.state, row.state) if place is not None else row.state
        quiet, still = None, False
        last = max(filter(None, (pace.last, story.advanced)), default=None)
        if state == RUNNING and last is not None:
            quiet = stall.silence(last, row.seen, now if row.host == self._host else None)
            still = pace.has_stalled(quiet)
        return Run(
            id=row.id,
            name=row.name,
            project=row.project,
            state=state,
            stalled=still and not questions,  # who waits for an answer knows why it stands still
            reason=row.reason if state == row.state else "",
            host=row.host,
            user=row.user,
            attempt=row.attempts,
            created=row.created,
            started=row.started,
            ended=row.ended,
            seconds=_seconds(row, now),
            step=max((stat.last_step for stat in row.metrics.values()), default=None),
            step_seconds=pace.step_seconds,
            silence=quiet,
            bars=tuple(map(_still, story.bars)) if still else story.bars,
            values=tuple(picture.Value(name, figure(stat.last), stat.last_step) for name, stat in _first(row).items()),
            alerts=row.alerts,
            questions=questions,
            queue=row.queue,
            tags=row.tags,
        )

    def _troubles(self, queues: tuple[picture.Queue, ...]) -> tuple[str, ...]:
        found = [queue.away or f"Not all of {queue.path} could be read." for queue in queues if not queue.sure]
        if hidden := self._runs.unreadable:
            found.append(f"{len(hidden)} runs cannot be read: {', '.join(hidden[:3])}.")
        return tuple(found)


def _still(bar: Progress) -> Progress:
    """Of a run that has stalled nobody knows when it will be done."""
    return msgspec.structs.replace(bar, rate=None, eta=None)


def _first(row: RunRow) -> dict[str, MetricStat]:
    """The metrics that are shown: those with a goal, then in the order in which they came."""
    names = sorted(row.metrics, key=lambda name: name not in row.goals)[:VALUES]
    return {name: row.metrics[name] for name in names}


def _seconds(row: RunRow, now: float) -> float:
    if row.started is None:
        return 0.0
    return max(0.0, (now if row.state == RUNNING else row.ended or row.seen) - row.started)


def _rank(run: Run) -> tuple[int, float, str]:
    """What runs comes first, the newest first; then what ended, the last first."""
    running = run.state in (RUNNING, PAUSED, QUEUED)
    return (0 if running else 1, -(run.created if running else run.ended or run.created), run.id)


def _counts(runs: list[Run]) -> dict[str, int]:
    found = Counter(run.state for run in runs)
    return {**found, "stalled": sum(run.stalled for run in runs)}


def _question(asked: Question, name: str) -> picture.Question:
    return picture.Question(
        run=asked.run,
        run_name=name,
        id=asked.id,
        prompt=asked.prompt,
        choices=asked.choices,
        default=asked.default,
        secret=asked.secret,
        time=asked.asked,
        until=asked.until,
    )


def _alerts(story: Story) -> list[picture.Alert]:
    return [
        picture.Alert(
            run=story.row.id,
            run_name=story.row.name,
            title=str(record.get("title") or ""),
            text=str(record.get("text") or ""),
            level=str(record.get("level") or ""),
            time=float(t) if isinstance(t := record.get("t"), (int, float)) else 0.0,
        )
        for record in story.alerts
    ]

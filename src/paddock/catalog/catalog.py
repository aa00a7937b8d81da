"""The index of one home, as the rest of Paddock asks it."""

from __future__ import annotations

import functools
import shlex
import sqlite3
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from threading import RLock
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

import msgspec

from paddock import wire
from paddock.catalog import (
    bars,
    card,
    liveness,
    naming,
    place,
    progress,
    query,
    questions,
    recent,
    refresh,
    series,
    state,
    tasks,
    verdict,
    writer,
)
from paddock.catalog.collector import without_collector
from paddock.catalog.distant import Distant
from paddock.catalog.recent import Step
from paddock.catalog.refresh import Refreshed
from paddock.catalog.series import Batch
from paddock.catalog.store import Store
from paddock.catalog.writer import Seen
from paddock.errors import Ambiguous, RunNotFound
from paddock.model import RUNNING, Progress, Question, RunRow, Series, Writer
from paddock.record.layout import Home
from paddock.settings import Settings
from paddock.settings import load as load_settings

P = ParamSpec("P")
T = TypeVar("T")
_Method = Callable[Concatenate["Catalog", P], T]
_ROWS = "SELECT r.key, r.settled, c.card FROM runs AS r JOIN cards AS c ON c.run = r.key"
_WRITERS = "SELECT run, state FROM writers WHERE run = (SELECT key FROM runs WHERE id = ?)"
_CORRUPT = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def _sturdy(method: _Method[P, T]) -> _Method[P, T]:
    """A damaged index is rebuilt, and one that cannot be written (full disk, stuck lock) is left for one in memory;
    then the question is asked once more. The runs are never touched by any of it."""

    @functools.wraps(method)
    def asked(self: Catalog, *args: P.args, **kwargs: P.kwargs) -> T:
        with self._lock:
            try:
                return method(self, *args, **kwargs)
            except sqlite3.DatabaseError as error:
                code = getattr(error, "sqlite_errorcode", 0) & 0xFF
                if code in _CORRUPT:
                    self._store.rebuild()
                elif isinstance(error, sqlite3.OperationalError) and self._store.path is not None:
                    self._store.to_memory()
                else:
                    raise
            self.refresh()
            return method(self, *args, **kwargs)

    return cast("_Method[P, T]", asked)


class Catalog:
    """Ask `refresh()` first: everything else answers from what it has read."""

    def __init__(self, home: Home, store: Store, lost_seconds: float) -> None:
        self.home = home
        self._store = store
        self._lost_seconds = lost_seconds
        self._lock = RLock()
        self._distant = Distant(home)
        self.unreadable: tuple[str, ...] = ()  # ids of runs that the last refresh was not allowed to read

    @classmethod
    def open(cls, home: Home, settings: Settings | None = None) -> Catalog:
        settings = settings or load_settings()
        return cls(home, Store(place.locate(home, settings.cache), home.path), settings.lost_seconds)

    def close(self) -> None:
        self._store.close()

    def __enter__(self) -> Catalog:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def path(self) -> Path | None:
        """The index's file; None when it is in memory."""
        return self._store.path

    @property
    def away(self) -> Mapping[str, str]:
        """Queues that did not answer when they were last asked, and why: of them it is told what they said before."""
        return self._distant.away

    @_sturdy
    def refresh(self) -> Refreshed:
        """Read what is new in the runs and the queues."""
        now = self._now()
        # The queues first: a task that starts between the two is then seen twice, not missed.
        moved = tasks.refresh(self._store.db, self.home, now.wall) | self._distant.refresh(self._store.db)
        found = refresh.refresh(self._store.db, self.home, now)
        self.unreadable = found.unreadable
        return found._replace(tasks=moved)

    @_sturdy
    def recent_steps(self, run_ids: Iterable[str]) -> dict[str, list[Step]]:
        """The last steps of each run's last attempt, and when they were logged."""
        return recent.steps(self._store.db, list(run_ids))

    @_sturdy
    def records_after(self, run_ids: Iterable[str], after: int, kinds: Sequence[str]) -> recent.Later:
        """What these runs recorded since the place that an earlier answer named; 0 is the beginning."""
        return recent.records(self._store.db, list(run_ids), after, kinds)

    @_sturdy
    def runs(self) -> list[RunRow]:
        """Every run, newest first, with its state at this moment."""
        waiting = tasks.waiting(self._store.db)
        rows = [tasks.shown(row, waiting.pop(row.id, None)) if waiting else row for row in self._rows(_ROWS, ())]
        if waiting:
            rows += [task.row for task in waiting.values()]
            rows.sort(key=attrgetter("created", "id"), reverse=True)
        return rows

    @_sturdy
    def refresh_some(self, run_ids: Collection[str]) -> Refreshed:
        """The same for these runs alone, and without the queues."""
        return refresh.refresh(self._store.db, self.home, self._now(), run_ids)

    @_sturdy
    def some_runs(self, run_ids: Iterable[str]) -> list[RunRow]:
        """Those of these runs that have a directory, newest first, as if no task waited in a queue: see `waiting`."""
        return self._rows(
            "SELECT r.key, r.settled, c.card FROM json_each(?) AS wanted JOIN runs AS r ON r.id = wanted.value"
            " JOIN cards AS c ON c.run = r.key",
            (wire.dumps(list(run_ids)).decode(),),
        )

    @_sturdy
    def waiting(self) -> dict[str, tasks.Waiting]:
        """What waits in the queues, by the id of its run."""
        return tasks.waiting(self._store.db)

    @_sturdy
    def unsettled(self) -> list[str]:
        """The runs whose state may change although nothing is written."""
        return [row[0] for row in self._store.db.execute("SELECT id FROM runs WHERE settled = 0")]

    @_sturdy
    def version(self) -> tuple[int, int]:
        """Another one when somebody else has changed the index, or it is another index."""
        return id(self._store.db), self._store.db.execute("PRAGMA data_version").fetchone()[0]

    @_sturdy
    def run(self, name: str) -> RunRow:
        """By id, by name, or by a beginning of one that fits one run only."""
        waiting = tasks.waiting(self._store.db)
        known = self._store.db.execute("SELECT id, name FROM runs").fetchall()
        here = {run_id for run_id, _ in known}
        known += [(run_id, task.row.name) for run_id, task in waiting.items() if run_id not in here]
        found = naming.fitting(name, known)
        if not found:
            if name in self.unreadable:
                raise RunNotFound(f"You may not read the run {name!r}.", hint=f"{self.share(name)} would share it.")
            near = naming.near(name, known)
            hint = f"Did you mean {' or '.join(near)}?" if near else "`paddock ls` lists the runs."
            raise RunNotFound(f"There is no run {name!r} in {self.home.path}.", hint=hint)
        rows = self._rows(
            "SELECT r.key, r.settled, c.card FROM json_each(?) AS wanted JOIN runs AS r ON r.id = wanted.value"
            " JOIN cards AS c ON c.run = r.key",
            (wire.dumps(found[:1] if len(found) == 1 else found).decode(),),
        )
        rows = [tasks.shown(row, waiting.get(row.id)) for row in rows]
        rows += [waiting[run_id].row for run_id in found if run_id not in here]
        if len(rows) == 1:
            return rows[0]
        lines = tuple(_candidate(row) for row in rows)
        raise Ambiguous(f"{name!r} fits {len(rows)} runs.", lines, hint="Use more of the id.")

    def share(self, run_id: str) -> str:
        """The command by which its owner lets others read a run."""
        return f"chmod -R go+rX {shlex.quote(str(self.home.runs / run_id))}"

    @_sturdy
    def writers(self, run_id: str) -> list[Writer]:
        """The processes that wrote to a run, in the order they began."""
        now = self._now()
        found = [
            Writer(
                name=seen.name,
                role=seen.role,
                host=seen.host,
                pid=seen.pid,
                rank=seen.rank,
                attempt=seen.attempt,
                state=state.of_writer(liveness.process(seen, now)),
                started=seen.started,
                seen=seen.seen,
                damaged=seen.damaged + verdict.torn_lines([seen], now),
                dropped=seen.dropped,
            )
            for seen in self._seen(_WRITERS, run_id)
        ]
        return sorted(found, key=lambda w: (w.started, w.attempt, w.name))

    @_sturdy
    def progress(self, run_id: str, ended: int = 20) -> list[Progress]:
        """What the run works on, in the order it was begun, and the last few things that are over. Where it only said
        how far it is (`log_info`), that."""
        writers = self._seen(_WRITERS, run_id)
        found = bars.of_run(self._store.db, run_id, ended, _living(writers, self._now()))
        if found:
            heard = {seen.name: seen.seen for seen in writers}
            return [progress.by_now(bar, max(heard.get(name, 0.0) for name in bar.writers)) for bar in found]
        row = next(iter(self._rows(f"{_ROWS} WHERE r.id = ?", (run_id,))), None)
        return [row.progress] if row is not None and row.progress is not None else []

    @_sturdy
    def questions(self, run_id: str | None = None) -> list[Question]:
        """What processes ask and wait for at this moment, the oldest first."""
        found = questions.unanswered(self._store.db, run_id)
        seen = {asked.writer: self._seen(_WRITERS, asked.run) for asked in found}
        living = {name: _living(writers, self._now()) for name, writers in seen.items()}
        return [asked for asked in found if asked.writer in living[asked.writer]]

    @_sturdy
    def series(
        self, run_ids: Iterable[str], metric: str, *, rank: int | None = None, tags: Mapping[str, Any] | None = None
    ) -> dict[str, Series]:
        """One metric of many runs by step; runs that never logged it are left out."""
        return series.series(self._store.db, list(run_ids), metric, rank, tags)

    @_sturdy
    def new_points(
        self, run_id: str, metric: str, seen: Mapping[int, int], tags: Mapping[str, Any] | None = None
    ) -> tuple[Series | None, dict[int, int]]:
        """The points of a metric as they were written since `seen`, and what is seen then; {} is before all."""
        return series.new_points(self._store.db, run_id, metric, seen, tags)

    def points(self, run_ids: Iterable[str], metric: str | None = None) -> Iterator[Batch]:
        """Every point as it was written, in batches of columns."""
        return series.points(self._store.db, list(run_ids), metric)

    @_sturdy
    def records(self, run_id: str, kinds: Sequence[str] | None = None) -> list[dict[str, Any]]:
        """Texts, marks, alerts, files and all else that is no point, in the order of time, each with its writer."""
        rows = self._store.db.execute(
            "SELECT w.name, e.kind, e.body FROM runs AS r JOIN records AS e ON e.run = r.key"
            " JOIN writers AS w ON w.key = e.writer WHERE r.id = ? ORDER BY e.time, e.key",
            (run_id,),
        )
        return [{**wire.loads(body), "writer": name} for name, kind, body in rows if kinds is None or kind in kinds]

    def facts(self, run_id: str) -> dict[str, Any]:
        """run.json, empty when it is missing or damaged, with what its last attempt told of where it runs."""
        found = card.read_facts(str(self.home.run(run_id).facts))[0]
        return found | self._surroundings(run_id)

    @_sturdy
    def _surroundings(self, run_id: str) -> dict[str, Any]:
        rows = self._store.db.execute(
            "SELECT e.body FROM runs AS r JOIN records AS e ON e.run = r.key"
            " WHERE r.id = ? AND e.kind = 'environment' ORDER BY e.time, e.key",
            (run_id,),
        )
        told: list[dict[str, Any]] = sorted((wire.loads(body) for (body,) in rows), key=card.attempt_of)
        return {name: told[-1][name] for name in card.SURROUNDINGS if name in told[-1]} if told else {}

    @_sturdy
    def metric_tags(self, run_id: str, metric: str) -> list[dict[str, Any]]:
        """The sets of tags that a metric was logged with; {} stands for none."""
        rows = self._store.db.execute(
            "SELECT DISTINCT m.tags FROM metrics AS m JOIN runs AS r ON r.key = m.run"
            " WHERE r.id = ? AND m.metric = ? AND m.count > 0 ORDER BY m.tags",
            (run_id, metric),
        )
        return [wire.loads(tags) if tags else {} for (tags,) in rows]

    def sql(self, text: str, params: Sequence[Any] | Mapping[str, Any] = ()) -> tuple[list[str], list[tuple[Any, ...]]]:
        """Column names and rows of a read-only query over the tables that query.sql declares."""
        return query.ask(self, text, params)

    @_sturdy
    def forget(self, run_id: str) -> None:
        """Drop a run that was removed from disk."""
        refresh.begin(self._store.db)
        try:
            refresh.remove(self._store.db, run_id)
        finally:
            self._store.db.execute("COMMIT")

    def _now(self) -> liveness.Here:
        return liveness.here(self._lost_seconds)

    @without_collector()
    def _rows(self, select: str, params: tuple[Any, ...]) -> list[RunRow]:
        found = self._store.db.execute(select, params).fetchall()
        rows = card.unpack([row[2] for row in found])
        running = {row[0]: i for i, row in enumerate(found) if not row[1]}
        if running:
            now = self._now()
            writers: dict[int, list[Seen]] = {key: [] for key in running}
            for key, blob in self._store.db.execute(
                "SELECT w.run, w.state FROM json_each(?) AS wanted JOIN writers AS w ON w.run = wanted.value",
                (str(list(running)),),
            ):
                writers[key].append(writer.unpack(blob))
            for key, i in running.items():
                judged = verdict.verdict(writers[key], now, rows[i].created)
                rows[i] = card.with_state(rows[i], judged, verdict.torn_lines(writers[key], now))
                if (bar := rows[i].progress) is not None and bar.state == RUNNING:
                    living = _living([seen for seen in writers[key] if seen.name in bar.writers], now)
                    bar = progress.by_now(progress.without(bar, living), rows[i].seen)
                    rows[i] = msgspec.structs.replace(rows[i], progress=bar)
        rows.sort(key=attrgetter("created", "id"), reverse=True)
        return rows

    def _seen(self, select: str, *params: Any) -> list[Seen]:
        return [writer.unpack(blob) for _, blob in self._store.db.execute(select, params)]


def _living(writers: Iterable[Seen], now: liveness.Here) -> set[str]:
    return {seen.name for seen in writers if liveness.alive(seen, now)}


def _candidate(row: RunRow) -> str:
    try:
        created = time.strftime("%Y-%m-%d %H:%M", time.localtime(row.created))
    except (ValueError, OverflowError, OSError):  # beyond the calendar
        created = f"{row.created:g}"
    return f"{row.id}  {row.name}  {created}  {row.state}"

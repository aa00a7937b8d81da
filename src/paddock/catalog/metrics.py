"""What each metric of a run came to, kept up to date as points arrive."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Any

from paddock import wire
from paddock.catalog.blocks import NOTHING, Mark
from paddock.model import MetricStat


def tags_text(tags: dict[str, Any]) -> str:
    """Tags in the one spelling that the index compares: JSON with sorted keys, "" for none."""
    return wire.dumps(dict(sorted(tags.items()))).decode() if tags else ""


def label(metric: str, tags: str) -> str:
    """`loss`, or `loss{split=val}`: a series' name in listings."""
    if not tags:
        return metric
    return f"{metric}{{{spelled(wire.loads(tags))}}}"


def spelled(tags: Mapping[str, Any]) -> str:
    return ",".join(f"{key}={tags[key]}" for key in sorted(tags))


class Entry:
    """One metric with one set of tags from one rank."""

    __slots__ = ("attempt", "key", "mark", "metric", "rank", "tags", "touched", "writer")

    def __init__(self, key: int, metric: str, tags: str, rank: int, mark: Mark, attempt: int, writer: str) -> None:
        self.key, self.metric, self.tags, self.rank = key, metric, tags, rank
        self.mark, self.attempt, self.writer = mark, attempt, writer
        self.touched = False

    def add(self, new: Mark, attempt: int, writer: str) -> None:
        if not new.n:
            return
        old, self.touched = self.mark, True
        if not old.n:
            self.mark, self.attempt, self.writer = new, attempt, writer
            return
        newer = new.last_step > old.last_step or (
            new.last_step == old.last_step and self._is_later(new, attempt, writer)
        )
        if newer:
            self.attempt, self.writer = attempt, writer
        last = new if newer else old
        low = old if new.min is None or (old.min is not None and old.min <= new.min) else new
        high = old if new.max is None or (old.max is not None and old.max >= new.max) else new
        self.mark = Mark(
            last.last,
            last.last_step,
            last.last_time,
            last.last_line,
            low.min,
            low.min_step,
            high.max,
            high.max_step,
            old.n + new.n,
        )

    def _is_later(self, new: Mark, attempt: int, writer: str) -> bool:
        """Of two points at one step, within a journal the one that stands later was written later, also when the clock
        was set back; else the attempt and the time decide, and at last the name, so that it is always the same one."""
        if writer == self.writer:
            return new.last_line >= self.mark.last_line
        return (attempt, new.last_time, writer) > (self.attempt, self.mark.last_time, self.writer)


class Metrics:
    """All metrics of one run."""

    def __init__(self, db: sqlite3.Connection, run: int, fresh: bool = False) -> None:
        """`fresh`: nothing of this run is stored yet."""
        self.db, self.run = db, run
        self.entries: dict[tuple[str, str, int], Entry] = {}
        if fresh:
            return
        rows = db.execute(
            "SELECT key, metric, tags, rank, last_attempt, last_writer, last, last_step, last_time, last_line,"
            " min, min_step, max, max_step, count FROM metrics WHERE run = ? ORDER BY key",
            (run,),
        )
        for key, metric, tags, rank, attempt, writer, *mark in rows:
            self.entries[metric, tags, rank] = Entry(key, metric, tags, rank, Mark(*mark), attempt, writer)

    def entry(self, metric: str, tags: str, rank: int) -> Entry:
        found = self.entries.get((metric, tags, rank))
        if found is None:
            key = self.db.execute(
                "INSERT INTO metrics (run, metric, tags, rank, last_step, last_time, last_line, last_attempt,"
                " last_writer, min_step, max_step, count) VALUES (?, ?, ?, ?, 0, 0, 0, 0, '', 0, 0, 0)",
                (self.run, metric, tags, rank),
            ).lastrowid
            found = Entry(key or 0, metric, tags, rank, NOTHING, 0, "")
            self.entries[metric, tags, rank] = found
        return found

    def save(self) -> None:
        touched = [entry for entry in self.entries.values() if entry.touched]
        self.db.executemany(
            "UPDATE metrics SET last_attempt = ?, last_writer = ?, last = ?, last_step = ?, last_time = ?,"
            " last_line = ?, min = ?, min_step = ?, max = ?, max_step = ?, count = ? WHERE key = ?",
            [(e.attempt, e.writer, *e.mark, e.key) for e in touched],
        )
        for entry in touched:
            entry.touched = False

    def stats(self) -> dict[str, MetricStat]:
        """For each series what it came to in the lowest rank that logged it."""
        lowest: dict[tuple[str, str], Entry] = {}
        for entry in self.entries.values():
            known = lowest.get((entry.metric, entry.tags))
            if entry.mark.n and (known is None or entry.rank < known.rank):
                lowest[entry.metric, entry.tags] = entry
        found = {}
        for (metric, tags), entry in lowest.items():
            m = entry.mark
            found[label(metric, tags)] = MetricStat(m.last, m.last_step, m.min, m.min_step, m.max, m.max_step, m.n)
        return found

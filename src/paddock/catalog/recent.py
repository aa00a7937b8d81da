"""What came last, for whoever looks at running runs again and again: the price follows what is new."""

from __future__ import annotations

import sqlite3
from array import array
from collections.abc import Sequence
from typing import Any, NamedTuple

from paddock import wire

MOST = 64  # steps of each run
_BLOCKS = 8  # of each writer: one for each set of metrics that are logged together


class Step(NamedTuple):
    step: int
    time: float  # seconds since the epoch, by the clock of whoever logged it


class Later(NamedTuple):
    place: int  # to ask from next time
    records: list[tuple[str, str, dict[str, Any]]]  # run, writer, record
    afresh: bool = False  # the index was made anew: this is everything


def steps(db: sqlite3.Connection, run_ids: Sequence[str], most: int = MOST) -> dict[str, list[Step]]:
    """By time; a step that several processes or metrics share is there once, when it was logged first."""
    rows = db.execute(
        "SELECT r.id, b.attempt, substr(b.steps, -:size), substr(b.times, -:size) FROM json_each(:ids) AS wanted"
        " JOIN runs AS r ON r.id = wanted.value JOIN writers AS w ON w.run = r.key JOIN blocks AS b ON b.key IN"
        " (SELECT key FROM blocks WHERE writer = w.key ORDER BY key DESC LIMIT :blocks)",
        {"ids": wire.dumps(list(run_ids)).decode(), "size": 8 * most, "blocks": _BLOCKS},
    )
    last: dict[str, int] = {}
    found: dict[str, dict[int, float]] = {}
    for run, attempt, numbers, times in rows:
        if attempt < last.get(run, attempt):
            continue
        if attempt > last.get(run, 0):
            last[run], found[run] = attempt, {}
        known = found[run]
        for step, time in zip(array("q", numbers), array("d", times), strict=True):
            known[step] = min(time, known.get(step, time))
    return {
        run: sorted((Step(*pair) for pair in known.items()), key=lambda one: one.time)[-most:]
        for run, known in found.items()
    }


def records(db: sqlite3.Connection, run_ids: Sequence[str], after: int, kinds: Sequence[str]) -> Later:
    place = db.execute("SELECT max(key) FROM records").fetchone()[0] or 0  # before: what comes meanwhile is for later
    afresh = place < after
    rows = db.execute(
        "SELECT r.id, w.name, e.body FROM json_each(:ids) AS wanted JOIN runs AS r ON r.id = wanted.value"
        " JOIN records AS e ON e.run = r.key AND e.key > :after AND e.key <= :place"
        " JOIN writers AS w ON w.key = e.writer"
        " WHERE e.kind IN (SELECT value FROM json_each(:kinds)) ORDER BY e.key",
        {
            "ids": wire.dumps(list(run_ids)).decode(),
            "after": 0 if afresh else after,
            "place": place,
            "kinds": wire.dumps(list(kinds)).decode(),
        },
    )
    return Later(place, [(run, writer, wire.loads(body)) for run, writer, body in rows], afresh)

"""Tasks of the home's queues as the catalog lists them: a task is a run from its submission on.

Only what waits is of interest here: a task that runs or ran has a run's directory, and its journals say more. Each file
is read once; a listing of names and inodes finds what is new, and none is made of a directory that has not changed.
"""

from __future__ import annotations

import os
import sqlite3
from typing import NamedTuple

import msgspec

from paddock import wire
from paddock.catalog import card
from paddock.catalog.registers import Registers
from paddock.errors import Damaged
from paddock.model import FAILED, PAUSED, QUEUED, RunRow
from paddock.queue import lifecycle
from paddock.queue.directory import DirectoryQueue, queues
from paddock.queue.entry.facts import facts_of
from paddock.queue.lifecycle import Place
from paddock.queue.task import TaskFile
from paddock.record.layout import Home

SHOWN = {lifecycle.QUEUED: QUEUED, lifecycle.CHECKING: QUEUED, lifecycle.PAUSED: PAUSED, lifecycle.FAILED: FAILED}
_TRUSTED_AGE = 2_000_000_000  # ns: a directory changed later than that may change again without a new mtime


class Waiting(NamedTuple):
    """What the queues say of a run."""

    state: str
    queue: str
    row: RunRow


def refresh(db: sqlite3.Connection, home: Home, now: float) -> bool:
    """Read what is new in the queues; whether anything may be. Outside of a transaction."""
    here = {queue.name: queue for queue in queues(home)}
    known = {(name, state): mtime for name, state, mtime in db.execute("SELECT queue, state, mtime FROM queues")}
    gone = {name for name, _ in known} - set(here)  # never one in Redis: those are not in this table
    changed = [
        (queue, state, mtime)
        for queue in here.values()
        for state in SHOWN
        if (mtime := _mtime(queue, state)) != known.get((queue.name, state), 0)
    ]
    if not changed and not gone:
        return False
    db.execute("BEGIN IMMEDIATE")
    try:
        for name in gone:
            db.execute("DELETE FROM tasks WHERE queue = ?", (name,))
            db.execute("DELETE FROM queues WHERE queue = ?", (name,))
        for queue, state, mtime in changed:
            if _take_in(db, queue, state):
                trusted = mtime if now * 1e9 - mtime > _TRUSTED_AGE else -1
                db.execute("INSERT OR REPLACE INTO queues VALUES (?, ?, ?)", (queue.name, state, trusted))
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise
    return True


def waiting(db: sqlite3.Connection) -> dict[str, Waiting]:
    """By the id of the run."""
    rows = db.execute("SELECT state, queue, card FROM tasks WHERE card IS NOT NULL").fetchall()
    return {
        row.id: Waiting(SHOWN[state], queue, row)
        for (state, queue, _), row in zip(rows, card.unpack([found[2] for found in rows]), strict=True)
    }


def shown(row: RunRow, task: Waiting | None) -> RunRow:
    """A run that has journals, as its queue sees it: one that waits for its next attempt waits."""
    if task is None or task.state == FAILED:
        return row
    return msgspec.structs.replace(row, state=task.state, queue=task.queue, reason="", ended=None)


def _take_in(db: sqlite3.Connection, queue: DirectoryQueue, state: str) -> bool:
    try:
        with os.scandir(queue.directory(state)) as scan:
            found = {entry.name: entry.inode() for entry in scan}
    except FileNotFoundError:
        found = {}
    except OSError:  # unknown: what was known stays
        return False
    rows = db.execute("SELECT name, inode FROM tasks WHERE queue = ? AND state = ?", (queue.name, state))
    known = dict(rows.fetchall())
    db.executemany(
        "DELETE FROM tasks WHERE queue = ? AND state = ? AND name = ?",
        [(queue.name, state, name) for name in known if known[name] != found.get(name)],
    )
    for name, inode in found.items():
        place = lifecycle.place(state, name)
        if place is not None and known.get(name) != inode:
            row = _row(queue, place)
            db.execute(
                "INSERT OR REPLACE INTO tasks VALUES (?, ?, ?, ?, ?)",
                (queue.name, state, name, inode, None if row is None else wire.pack(row)),
            )
    return True


def _row(queue: DirectoryQueue, place: Place) -> RunRow | None:
    try:
        return row_of(queue.read(place), place, queue.name)
    except (Damaged, OSError):  # `paddock status` says what is wrong with it
        return None


def row_of(file: TaskFile, place: Place, queue: str) -> RunRow:
    facts = wire.plain(facts_of(file.task)).value  # a command may hold bytes that are no text
    row = card.build(place.id, "", facts, Registers(), {}, None, [], file.task.submitted, True)
    return msgspec.structs.replace(
        row,
        state=SHOWN[place.state],
        queue=queue,
        attempts=len(file.attempts),
        reason=_last_words(file) if place.state == lifecycle.FAILED else "",
    )


def _last_words(file: TaskFile) -> str:
    return wire.text(file.attempts[-1].exit) if file.attempts else ""


def _mtime(queue: DirectoryQueue, state: str) -> int:
    try:
        return os.stat(queue.directory(state)).st_mtime_ns
    except OSError:
        return 0

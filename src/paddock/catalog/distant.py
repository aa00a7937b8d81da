"""Tasks of queues in Redis as the catalog lists them, beside those in directories.

A server is asked one short question; only when its answer is another one than the last time is anything read, and of
that only the tasks that are new or have moved. One that does not answer is left in peace for a while: what it said last
stays.
"""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from paddock import wire
from paddock.catalog.tasks import SHOWN, row_of
from paddock.errors import Damaged
from paddock.queue import task as tasks
from paddock.queue.lifecycle import Place
from paddock.queue.protocol import AWAY
from paddock.queue.remembered import remembered
from paddock.record.layout import Home

if TYPE_CHECKING:
    from paddock.queue.redis.queue import RedisQueue

ASK_SECONDS = 1.0  # between two questions
AWAY_SECONDS = 30.0  # the same to a server that did not answer
PATIENCE_SECONDS = 1.0


class _Changes(NamedTuple):
    gone: list[tuple[str, str]]  # state and id
    new: list[tuple[str, str, int, bytes | None]]  # state, id, attempts, the packed row


class Distant:
    """Of one catalog: it keeps its connections."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._queues: dict[str, RedisQueue] = {}
        self._due: dict[str, float] = {}
        self.away: dict[str, str] = {}  # those that did not answer, and why

    def refresh(self, db: sqlite3.Connection) -> bool:
        """Read what is new; whether anything is. Outside of a transaction."""
        urls = remembered(self._home)
        self.away = {url: why for url, why in self.away.items() if url in urls}
        known = dict(db.execute("SELECT queue, mark FROM distant").fetchall())
        moved = False
        for url in known.keys() - set(urls):
            _forget(db, url)
            moved = True
        for url in urls:
            if time.monotonic() >= self._due.get(url, 0.0):
                moved |= self._ask(db, url, known.get(url))
        return moved

    def _ask(self, db: sqlite3.Connection, url: str, mark: str | None) -> bool:
        self._due[url] = time.monotonic() + ASK_SECONDS
        try:
            queue = self._queues.get(url) or self._open(url)
            now = queue.mark()
            self.away.pop(url, None)
            if now == mark:
                return False
            changes = _changes(db, queue)
        except AWAY as error:
            self.away[url] = str(error)
            self._due[url] = time.monotonic() + AWAY_SECONDS
            return False
        _store(db, url, now, changes)
        return True

    def _open(self, url: str) -> RedisQueue:
        from paddock.queue.redis.queue import RedisQueue  # most homes have none

        self._queues[url] = RedisQueue(url, PATIENCE_SECONDS)
        return self._queues[url]


def _changes(db: sqlite3.Connection, queue: RedisQueue) -> _Changes:
    """What waits or failed there, as far as it is not known."""
    content = queue.content()
    here = {
        (place.state, place.id): (place, content.tasks[place.id][-1])
        for place in content.places
        if place.state in SHOWN
    }
    rows = db.execute("SELECT state, name, inode FROM tasks WHERE queue = ?", (queue.address,))
    known = {(state, name): attempts for state, name, attempts in rows}
    new = {key: found for key, found in here.items() if known.get(key) != found[1]}
    texts = queue.texts([task for _, task in new])
    return _Changes(
        [key for key in known if key not in here],
        [(*key, attempts, _row(texts.get(key[1]), place, queue)) for key, (place, attempts) in new.items()],
    )


def _row(text: bytes | None, place: Place, queue: RedisQueue) -> bytes | None:
    try:
        return None if text is None else wire.pack(row_of(tasks.read(text, place.id), place, queue.address))
    except Damaged:
        return None


def _store(db: sqlite3.Connection, url: str, mark: str, changes: _Changes) -> None:
    with _transaction(db):
        db.executemany(
            "DELETE FROM tasks WHERE queue = ? AND state = ? AND name = ?", [(url, *key) for key in changes.gone]
        )
        db.executemany("INSERT OR REPLACE INTO tasks VALUES (?, ?, ?, ?, ?)", [(url, *row) for row in changes.new])
        db.execute("INSERT OR REPLACE INTO distant VALUES (?, ?)", (url, mark))


def _forget(db: sqlite3.Connection, url: str) -> None:
    with _transaction(db):
        db.execute("DELETE FROM tasks WHERE queue = ?", (url,))
        db.execute("DELETE FROM distant WHERE queue = ?", (url,))


@contextlib.contextmanager
def _transaction(db: sqlite3.Connection) -> Iterator[None]:
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise

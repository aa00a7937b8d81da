"""The table of progress: shares are taken in from records, and read as bars."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection
from typing import Any

from paddock.catalog import progress
from paddock.catalog.packing import pack
from paddock.catalog.progress import Share
from paddock.model import RUNNING, Progress


class Bars:
    """Those of one run, inside the transaction that reads its journals."""

    def __init__(self, db: sqlite3.Connection, run: int, fresh: bool) -> None:
        self._db, self._run, self._fresh = db, run, fresh
        self._touched: dict[tuple[str, int], Share] = {}

    def take(self, key: int, writer: str, record: dict[str, Any]) -> None:
        id = record.get("id")
        if not isinstance(id, str):
            return
        share = progress.take(self._touched.get((id, key)) or self._stored(id, key), record, writer)
        if share is not None:
            self._touched[id, key] = share

    def _stored(self, id: str, key: int) -> Share | None:
        if self._fresh:
            return None
        found = self._db.execute(
            "SELECT state FROM progress WHERE run = ? AND id = ? AND writer = ?", (self._run, id, key)
        ).fetchone()
        return progress.unpack(found[0]) if found else None

    def save(self) -> None:
        self._db.executemany(
            "INSERT OR REPLACE INTO progress (run, id, writer, open, seen, state) VALUES (?, ?, ?, ?, ?, ?)",
            [(self._run, id, key, _is_open(s), s.seen, pack(s)) for (id, key), s in self._touched.items()],
        )
        for id in {id for id, _ in self._touched if not id.startswith(progress.SHARED)}:
            self._close(id)
        self._touched = {}

    def _close(self, id: str) -> None:
        """Who did a part of it has nothing to say any more once it is over."""
        rows = self._db.execute("SELECT state FROM progress WHERE run = ? AND id = ?", (self._run, id))
        shares = [progress.unpack(state) for (state,) in rows]
        if any(share.maker and share.state != RUNNING for share in shares):
            self._db.execute("UPDATE progress SET open = 0 WHERE run = ? AND id = ?", (self._run, id))

    def main(self) -> Progress | None:
        """Whoever is said to run is taken to live: that is found out when somebody asks."""
        shares = read(self._db, self._run, 1)
        return progress.main_one(progress.gather(shares, {share.writer for share in shares}))


def _is_open(share: Share) -> bool:
    return share.state == RUNNING


def read(db: sqlite3.Connection, run: int, ended: int) -> list[Share]:
    """The shares in all that is not over, and in the last `ended` that are."""
    rows = db.execute(
        "SELECT state FROM progress WHERE run = :run AND id IN (SELECT id FROM progress WHERE run = :run AND open = 1"
        " UNION SELECT id FROM (SELECT id, max(seen) AS last FROM (SELECT id, seen FROM progress"
        " WHERE run = :run AND open = 0 ORDER BY seen DESC LIMIT :rows) GROUP BY id ORDER BY last DESC LIMIT :ended))",
        {"run": run, "ended": ended, "rows": 64 * ended},
    )
    return [progress.unpack(state) for (state,) in rows]


def of_run(db: sqlite3.Connection, run_id: str, ended: int, living: Collection[str]) -> list[Progress]:
    found = db.execute("SELECT key FROM runs WHERE id = ?", (run_id,)).fetchone()
    return progress.gather(read(db, found[0], ended), living) if found else []

"""Finding what changed in a home since the index last looked, at the price of one stat a run."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from collections.abc import Collection, Iterator
from typing import NamedTuple

from paddock import wire
from paddock.catalog import card, writer
from paddock.catalog.collector import without_collector
from paddock.catalog.ingest import CLOSED, QUIET, Counts, RunIngest, facts_mark
from paddock.catalog.liveness import Here, alive, final, judged_by_process, look_at
from paddock.catalog.packing import pack
from paddock.catalog.readers import Pieces, in_turn
from paddock.catalog.registers import Registers
from paddock.catalog.writer import Seen
from paddock.errors import HomeError
from paddock.record.layout import ID_PATTERN, Home
from paddock.record.scan import JournalFile, journal_files

COMMIT_BYTES = 32 << 20
COMMIT_SECONDS = 2.0
_TRY_AGAIN = 60.0  # seconds until a run that could not be indexed is looked at again
_PATIENCE = 30.0  # seconds to wait for a process that holds the index and does not get on


# Nothing can have happened to a run, or it was silent for so long that it is looked at only now and then. One whose
# run.json is missing or damaged is always looked at: it may be mended.
_RESTS = f"facts GLOB '[0-9]*' AND (settled = {CLOSED} OR (look_at > :now AND look_at < :now + 3600))"


class Refreshed(NamedTuple):
    """What a refresh found."""

    new: int = 0  # runs
    changed: int = 0
    removed: int = 0
    bytes: int = 0
    lines: int = 0
    damaged: int = 0
    foreign: int = 0  # things in runs/ that are no runs
    unreadable: tuple[str, ...] = ()  # runs that others keep to themselves
    touched: frozenset[str] = frozenset()  # ids of those that are new, changed or removed
    tasks: bool = False  # something is different in the queues


class Listing(NamedTuple):
    runs: dict[str, int]  # id -> mtime of the journal directory in ns, 0 when there is none
    foreign: int = 0
    unreadable: tuple[str, ...] = ()  # ids


class Known(NamedTuple):
    key: int
    journals: int
    facts: str
    settled: int
    look_at: float


@without_collector()
def refresh(db: sqlite3.Connection, home: Home, now: Here, only: Collection[str] | None = None) -> Refreshed:
    """With `only` just these runs are looked at: who says so knows that nothing happened to the others."""
    listing = list_runs(home) if only is None else _listed(home, only)
    resting: dict[str, int] = {}
    if only is None:
        resting = dict(db.execute(f"SELECT id, journals FROM runs WHERE {_RESTS}", {"now": now.wall}))
    moved = [run_id for run_id, mtime in listing.runs.items() if resting.get(run_id) != mtime]
    rows = db.execute(
        f"SELECT id, key, journals, facts, settled, look_at FROM runs WHERE NOT ({_RESTS})"
        " OR id IN (SELECT value FROM json_each(:moved))",
        {"now": now.wall, "moved": wire.dumps(moved).decode()},
    )
    known = {row[0]: Known._make(row[1:]) for row in rows}
    changed = _changed(db, home, [(run_id, listing.runs[run_id]) for run_id in moved], known, now)
    removed = [run_id for run_id in (resting | known) if run_id not in listing.runs] if only is None else []
    counts = Counts()
    if changed or removed:
        _write(db, home, changed, removed, now, counts)
    return Refreshed(
        new=len(counts.new),
        changed=len(counts.changed - counts.new),
        removed=len(removed),
        bytes=counts.bytes,
        lines=counts.lines,
        damaged=counts.damaged,
        foreign=listing.foreign,
        unreadable=(*listing.unreadable, *sorted(counts.unreadable)),
        touched=frozenset((*counts.new, *counts.changed, *changed, *removed)),
    )


def list_runs(home: Home) -> Listing:
    base = str(home.runs)
    found: dict[str, int] = {}
    foreign, unreadable = 0, []
    try:
        with os.scandir(base) as scan:
            names = [(entry.name, _is_directory(entry)) for entry in scan if not entry.name.startswith(".")]
    except FileNotFoundError:
        return Listing({})
    except OSError as error:
        raise HomeError(
            f"The runs in {base} cannot be listed ({error.strerror or error}).",
            hint="Check PADDOCK_HOME, and that you may read that directory.",
        ) from None
    stat, matches = os.stat, ID_PATTERN.fullmatch
    for name, is_directory in names:
        if not is_directory or not matches(name):
            foreign += 1
            continue
        try:
            found[name] = stat(f"{base}/{name}/journal").st_mtime_ns
        except PermissionError:  # of somebody whose umask is 077
            unreadable.append(name)
        except OSError:
            if os.path.exists(f"{base}/{name}/run.json"):
                found[name] = 0
            else:
                foreign += 1
    return Listing(found, foreign, tuple(unreadable))


def _listed(home: Home, run_ids: Collection[str]) -> Listing:
    found = {}
    for run_id in run_ids:
        with contextlib.suppress(OSError):
            found[run_id] = os.stat(f"{home.runs}/{run_id}/journal").st_mtime_ns
    return Listing(found)


def _is_directory(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to itself
        return False


def _changed(
    db: sqlite3.Connection, home: Home, moved: list[tuple[str, int]], known: dict[str, Known], now: Here
) -> list[str]:
    """The runs that something is to be written for."""
    changed = [run_id for run_id, _ in moved if run_id not in known]
    suspects = [(run_id, known[run_id], mtime) for run_id, mtime in moved if run_id in known]
    if suspects:
        writers = _writers(db, [run.key for _, run, _ in suspects])
        for run_id, run, mtime in suspects:
            if _differs(f"{home.runs}/{run_id}", run, mtime, writers.get(run.key, {}), now):
                changed.append(run_id)
    return changed


def _writers(db: sqlite3.Connection, runs: list[int]) -> dict[int, dict[str, Seen]]:
    found: dict[int, dict[str, Seen]] = {}
    rows = db.execute(
        "SELECT w.run, w.name, w.state FROM json_each(?) AS wanted JOIN writers AS w ON w.run = wanted.value",
        (str(runs),),
    )
    for run, name, state in rows:
        found.setdefault(run, {})[name] = writer.unpack(state)
    return found


def _differs(path: str, run: Known, mtime: int, writers: dict[str, Seen], now: Here) -> bool:
    try:
        files = journal_files(f"{path}/journal")
    except OSError:
        return False
    if len(files) != len(writers) or run.facts.lstrip("!") != facts_mark(f"{path}/run.json"):
        return True
    if any(_file_differs(file, writers.get(file.writer)) for file in files):
        return True
    if run.journals != mtime and now.wall - mtime / 1e9 > 2:
        return True  # it can be trusted by now
    if any(not seen.over and seen.missing < 0 and _gone(seen, now) for seen in writers.values()):
        return True
    if run.settled == CLOSED:
        return False
    known = list(writers.values())
    return all(final(seen, now) for seen in known) or (run.look_at <= now.wall and look_at(known, now) > 0)


def _gone(seen: Seen, now: Here) -> bool:
    return seen.clock != now.boot or (judged_by_process(seen, now) and not alive(seen, now))


def _file_differs(file: JournalFile, seen: Seen | None) -> bool:
    return seen is None or file.size != seen.size or file.inode != seen.inode or file.packed != seen.packed


def _write(
    db: sqlite3.Connection, home: Home, changed: list[str], removed: list[str], now: Here, counts: Counts
) -> None:
    """Offsets are read inside the transaction that moves them, so nothing is read twice, whoever else refreshes."""
    base = str(home.runs)
    begin(db)
    try:
        for run_id in removed:
            if not os.path.isdir(home.runs / run_id):
                remove(db, run_id)
        read, since = 0, time.monotonic()
        for run_id, ahead in _in_turn(db, base, changed):
            more = True
            while more:
                size, more = _take_in(db, f"{base}/{run_id}", now, counts, COMMIT_BYTES - read, ahead)
                read += size
                if read >= COMMIT_BYTES or time.monotonic() - since > COMMIT_SECONDS:
                    db.execute("COMMIT")
                    time.sleep(0.001)  # a waiting process gets its turn
                    begin(db)
                    read, since = 0, time.monotonic()
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


def _in_turn(db: sqlite3.Connection, base: str, changed: list[str]) -> Iterator[tuple[str, Pieces]]:
    """Others help with what is new; of what is known only the end is to be read."""
    known = {
        row[0]
        for row in db.execute(
            "SELECT id FROM runs WHERE id IN (SELECT value FROM json_each(?))", (wire.dumps(changed).decode(),)
        )
    }
    yield from ((run_id, {}) for run_id in changed if run_id in known)
    yield from in_turn(base, [run_id for run_id in changed if run_id not in known])


def _take_in(
    db: sqlite3.Connection, path: str, now: Here, counts: Counts, budget: int, ahead: Pieces
) -> tuple[int, bool]:
    """One run by itself: what is wrong with it must not keep the others from being listed."""
    db.execute("SAVEPOINT run")
    try:
        found = RunIngest(db, path, now, counts, ahead).run(budget)
    except Exception as error:
        if type(error) in (sqlite3.OperationalError, sqlite3.DatabaseError):
            raise  # the index itself is damaged, full or locked
        db.execute("ROLLBACK TO run")
        _put_aside(db, path, now, error)
        counts.damaged += 1
        found = 0, False
    db.execute("RELEASE run")
    return found


def _put_aside(db: sqlite3.Connection, path: str, now: Here, error: Exception) -> None:
    """List a run that cannot be indexed by its id and why, and try again in a while, or when it changes."""
    run_id = os.path.basename(path)
    try:
        mtime = os.stat(f"{path}/journal").st_mtime_ns
    except OSError:
        mtime = 0
    remove(db, run_id)
    key = db.execute(
        "INSERT INTO runs (id, name, created, journals, facts, settled, look_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (run_id, run_id, mtime / 1e9, mtime, facts_mark(f"{path}/run.json") or "0", QUIET, now.wall + _TRY_AGAIN),
    ).lastrowid
    row = card.unreadable(run_id, path, mtime / 1e9, error)
    db.execute("INSERT INTO cards (run, card, registers) VALUES (?, ?, ?)", (key, pack(row), pack(Registers())))


def begin(db: sqlite3.Connection) -> None:
    """Take the write lock. Wait as long as the one who has it gets on with its work."""
    version, deadline = None, 0.0
    db.execute("PRAGMA busy_timeout = 200")
    try:
        while True:
            try:
                db.execute("BEGIN IMMEDIATE")
                return
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                    raise
                current = db.execute("PRAGMA data_version").fetchone()[0]
                if current != version:
                    version, deadline = current, time.monotonic() + _PATIENCE
                elif time.monotonic() > deadline:
                    raise
    finally:
        db.execute("PRAGMA busy_timeout = 30000")


def remove(db: sqlite3.Connection, run_id: str) -> None:
    found = db.execute("SELECT key FROM runs WHERE id = ?", (run_id,)).fetchone()
    if found is None:
        return
    for statement in (
        "DELETE FROM chunks WHERE metric IN (SELECT key FROM metrics WHERE run = ?)",
        "DELETE FROM blocks WHERE writer IN (SELECT key FROM writers WHERE run = ?)",
        "DELETE FROM metrics WHERE run = ?",
        "DELETE FROM records WHERE run = ?",
        "DELETE FROM progress WHERE run = ?",
        "DELETE FROM writers WHERE run = ?",
        "DELETE FROM cards WHERE run = ?",
        "DELETE FROM runs WHERE key = ?",
    ):
        db.execute(statement, found)

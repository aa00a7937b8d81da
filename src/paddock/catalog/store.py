"""The index's SQLite file: made, checked, and thrown away when it is damaged or of another version."""

from __future__ import annotations

import contextlib
import fcntl
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from paddock.catalog.abandoned import note_use

VERSION = 12
BUSY_SECONDS = 30.0
_SCHEMA = Path(__file__).with_name("schema.sql").read_text()
_PRAGMAS = (
    "PRAGMA synchronous = NORMAL",  # a power cut costs the last transactions; what they held is read again
    "PRAGMA mmap_size = 1073741824",
    "PRAGMA cache_size = -32768",
    "PRAGMA temp_store = MEMORY",
)


class Store:
    """One connection, which can be exchanged for a fresh one when the file turns out to be unusable."""

    def __init__(self, path: Path | None, home: Path | None = None) -> None:
        self.path, self.home = path, home
        self.inode = 0
        self.db = self._connect()

    def close(self) -> None:
        self.db.close()

    def rebuild(self) -> None:
        """After damage: an empty index in the same place. Whoever else found the damage may have made it already."""
        self.db.close()
        if self.path is not None:
            with _exclusive(self.path, self.home):
                if _inode(self.path) == self.inode:
                    _delete(self.path)
        self.db = self._connect()

    def to_memory(self) -> None:
        """The disk is full, or somebody holds the file for good: work without it."""
        self.db.close()
        self.path = None
        self.db = self._connect()

    def _connect(self) -> sqlite3.Connection:
        if self.path is None:
            return _create(_open(":memory:"))
        try:
            with _exclusive(self.path, self.home):
                try:
                    db = _checked(self.path)
                except sqlite3.OperationalError:
                    raise
                except sqlite3.DatabaseError:
                    _delete(self.path)
                    db = _checked(self.path)
                self.inode = _inode(self.path)
                return db
        except (OSError, sqlite3.OperationalError):
            self.path = None
            return _create(_open(":memory:"))


def _checked(path: Path) -> sqlite3.Connection:
    db = _open(str(path))
    try:
        version = db.execute("PRAGMA user_version").fetchone()[0]
        tables = db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if version == VERSION and tables:
            return db
        if not tables:
            return _create(db)
    except BaseException:
        db.close()
        raise
    db.close()
    _delete(path)
    return _create(_open(str(path)))


def _open(name: str) -> sqlite3.Connection:
    db = sqlite3.connect(name, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    try:
        for pragma in _PRAGMAS:
            db.execute(pragma)
    except BaseException:
        db.close()
        raise
    return db


def _create(db: sqlite3.Connection) -> sqlite3.Connection:
    try:
        db.execute("PRAGMA page_size = 16384")  # points are read as blobs of some 32 KiB
        db.execute("PRAGMA synchronous = OFF")  # a power cut leaves what is seen to be no index, and made anew
        db.execute("PRAGMA journal_mode = WAL")
        script = _SCHEMA
        db.executescript(f"BEGIN; {script} PRAGMA user_version = {VERSION}; COMMIT;")
        db.execute(_PRAGMAS[0])
    except BaseException:
        db.close()
        raise
    return db


@contextlib.contextmanager
def _exclusive(path: Path, home: Path | None) -> Iterator[None]:
    """Among the processes that open, make or delete the file; not while it is used."""
    descriptor = os.open(path.with_suffix(".lock"), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        if home is not None:
            note_use(descriptor, home)
        yield
    finally:
        os.close(descriptor)


def _delete(path: Path) -> None:
    for name in (path, f"{path}-wal", f"{path}-shm"):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)


def _inode(path: Path) -> int:
    try:
        return os.stat(path).st_ino
    except OSError:
        return 0

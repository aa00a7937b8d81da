"""One process's journal: append-only, opened O_EXCL, written before the call returns.

`write()` puts a line into the kernel's page cache, so it survives `kill -9` of this process; `sync()` (called by the
keeper thread once a second) makes it survive a power cut. When the disk refuses, lines wait in bounded memory and
are written in order as soon as it takes them again; what does not fit is counted, never silently dropped.
"""

from __future__ import annotations

import os
import socket
import threading
from collections import deque
from functools import cache
from pathlib import Path
from time import time
from typing import Any

from paddock import files, wire

FORMAT = 1
HEADER_BYTES = 4096  # readers that want only the first line need no more than this


class Columns:
    """A set of metric names (and tags) that rows refer to by number."""

    __slots__ = ("at", "id", "last", "names", "redeclare", "tags", "written")

    def __init__(self, id: int, names: tuple[str, ...], tags: dict[str, Any]) -> None:
        self.id = id
        self.names = names
        self.tags = tags
        self.written = 0
        self.redeclare = 1  # rows left until the names are written again
        self.last: Any = ()
        self.at = 0  # when the last row was written, in ns

    def record(self) -> dict[str, Any]:
        found: dict[str, Any] = {"k": "columns", "id": self.id, "names": self.names}
        if self.tags:
            found["tags"] = self.tags
        return found

    def next_declaration(self) -> None:
        """Names are declared before row 1, again after it, after 64 rows, then every 4,096: one damaged line, or a
        whole damaged disk block, must not make a series unreadable."""
        self.written = {0: 1, 1: 64, 64: 4096}.get(self.written, self.written + 4096)
        self.redeclare = {1: 1, 64: 63, 4096: 4032}.get(self.written, 4096)


class Journal:
    def __init__(
        self, path: Path | str, header: dict[str, Any], *, pending_bytes: int = 16 << 20, mode: int = 0o644
    ) -> None:
        self._path = path
        self.header = header
        self.lock = threading.RLock()  # re-entrant: a signal handler may log while this thread is logging
        self.started = time()
        self.fd = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC, mode)
        self.dirty = False
        self.waiting: deque[bytes] = deque()
        self.waiting_bytes = 0
        self.dropped = 0  # lines that memory could not hold while the disk refused
        self.refusal = ""  # why the disk refuses right now
        self.pending_bytes = pending_bytes
        self.columns: dict[Any, Columns] = {}
        self._columns_made = 0
        inode = os.fstat(self.fd).st_ino
        self.append({"k": "open", "v": FORMAT, "t": round(self.started, 6), "inode": inode, **header})

    @property
    def path(self) -> Path:
        return Path(self._path)

    def append(self, *records: dict[str, Any]) -> None:
        self.write(b"".join(map(wire.record_line, records)))

    def append_now(self, record: dict[str, Any]) -> None:
        """Append a record that carries the time of its writing, in seconds since the epoch."""
        self.append({"k": record.pop("k"), "t": round(time(), 6), **record})

    def write(self, line: bytes) -> None:
        with self.lock:
            if self.waiting:
                self._keep(line)
                self.retry()
                return
            try:
                written = os.write(self.fd, line)
            except OSError as error:
                self.refused(line, error)
                return
            self.dirty = True
            if written != len(line):
                self.torn(line, written)

    def refused(self, line: bytes, error: OSError) -> None:
        """The disk took nothing of the line: it waits."""
        self._refused(error)
        self._keep(line)

    def torn(self, line: bytes, written: int) -> None:
        """The disk took a part of the line only: the rest goes first when it takes more."""
        with self.lock:
            self._keep(line[written:])
            self.retry()

    def retry(self) -> bool:
        """Try to write what waits; True when nothing waits any more."""
        with self.lock:
            while self.waiting:
                line = self.waiting[0]
                try:
                    written = os.write(self.fd, line)
                except OSError as error:
                    self._refused(error)
                    return False
                self.dirty = True
                self.waiting_bytes -= written
                if written == len(line):
                    self.waiting.popleft()
                else:
                    self.waiting[0] = line[written:]
            self.refusal = ""
            return True

    def column_set(self, names: tuple[str, ...], tags: dict[str, Any], key: Any) -> Columns:
        with self.lock:
            if len(self.columns) >= 10_000:  # names made up at every call: forget the old sets, not the memory
                self.columns.clear()
            columns = Columns(self._columns_made, names, tags)
            self._columns_made += 1
            self.append(columns.record())
            columns.next_declaration()
            self.columns[key] = columns
            return columns

    def redeclare(self, columns: Columns) -> None:
        self.append(columns.record())
        columns.next_declaration()

    def sync(self) -> None:
        """Bring to the disk what was written so far. Without the lock: no log() may wait for a disk."""
        if self.dirty:
            self.dirty = False
            try:
                os.fdatasync(self.fd)
            except OSError as error:
                self._refused(error)

    def is_unlinked(self) -> bool:
        """Somebody has removed the file under us."""
        try:
            return self.fd >= 0 and os.fstat(self.fd).st_nlink == 0
        except OSError:
            return False

    def put_back(self) -> bool:
        """Write all that the removed file holds to its old place, and go on there. False when its directory is gone
        too: then the run itself was removed, and stays removed."""
        with self.lock:
            try:
                with open(f"/proc/self/fd/{self.fd}", "rb") as file:
                    data = file.read()
                fresh = os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC, 0o644)
            except OSError:
                return False
            files.write_all(fresh, data)
            os.fsync(fresh)
            os.dup2(fresh, self.fd, inheritable=False)
            os.close(fresh)
            return True

    def close(self) -> None:
        with self.lock:
            self.sync()
            os.close(self.fd)
            self.fd = -1

    def _refused(self, error: OSError) -> None:
        self.refusal = error.strerror or str(error)

    def _keep(self, line: bytes) -> None:
        if self.waiting_bytes + len(line) > self.pending_bytes:
            self.dropped += 1
            return
        self.waiting.append(line)
        self.waiting_bytes += len(line)


def writer_name() -> str:
    """Unique among all processes that ever write to a run, and telling to a person who lists the directory."""
    return f"{_host()}-{os.getpid()}-{os.urandom(3).hex()}"


@cache
def _host() -> str:
    return "".join(c if c.isalnum() else "-" for c in socket.gethostname().split(".")[0])[:40] or "host"

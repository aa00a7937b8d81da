"""Reading a run's journals into the index: only what is new, and again from the start where what was read has
changed underneath."""

from __future__ import annotations

import gzip
import os
import sqlite3
import zlib
from typing import Any, BinaryIO
from zlib import crc32

from paddock import wire
from paddock.catalog import card, registers, sameness, writer
from paddock.catalog.bars import Bars
from paddock.catalog.blocks import Table, Tail, shifted, tabulate
from paddock.catalog.liveness import Here, final, look_at, note_gone, note_size
from paddock.catalog.metrics import Entry, Metrics, tags_text
from paddock.catalog.packing import pack
from paddock.catalog.piece import PIECE_BYTES, Piece
from paddock.catalog.registers import Registers
from paddock.catalog.verdict import torn_lines, verdict
from paddock.catalog.writer import HEAD_BYTES, Seen, fits, seconds
from paddock.model import RUNNING
from paddock.record import shipped
from paddock.record.scan import JournalFile, Rows, journal_files, parse

TRUSTED_AGE = 2.0  # seconds: a directory changed later than that may change again without a new mtime
OPEN, CLOSED, QUIET = 0, 1, 2  # may change at any time; will not change; was not heard of for hours


class Counts:
    def __init__(self) -> None:
        self.new: set[str] = set()
        self.changed: set[str] = set()
        self.unreadable: set[str] = set()
        self.bytes = self.lines = self.damaged = 0


class Late(Exception):
    """Columns were declared after rows that use them: what was read so far must be read again."""


class RunIngest:
    """One run, inside one transaction: all that it knows is read there and written there."""

    def __init__(
        self, db: sqlite3.Connection, path: str, now: Here, counts: Counts, ahead: dict[str, list[Piece]] | None = None
    ) -> None:
        """`ahead`: what others have read of its journals already, by their paths; used up here."""
        self.db, self.path, self.now, self.counts, self.ahead = db, path, now, counts, ahead or {}
        self.id = os.path.basename(path)
        self.key = 0
        self.fresh = False  # nothing of it is stored yet
        self.facts_mark = ""
        self.facts: dict[str, Any] = {}
        self.facts_whole = True
        self.registers = Registers()
        self._gone: frozenset[str] = frozenset()
        self.writers: dict[str, tuple[int, Seen]] = {}
        self.stored: dict[str, bytes] = {}
        self.metrics: Metrics | None = None
        self.bars: Bars | None = None
        self.tails: dict[tuple[int, int], tuple[Tail, list[Entry]]] = {}

    def run(self, budget: int) -> tuple[int, bool]:
        """Read up to about `budget` bytes; how many were read, and whether there is more."""
        journals = f"{self.path}/journal"
        mtime = _mtime(journals)  # before the listing: what comes later changes it again
        try:
            files = {file.writer: file for file in journal_files(journals)}
        except OSError as error:  # not ours to read, or the filesystem is in trouble: what is known of it stays
            if isinstance(error, PermissionError):
                self.counts.unreadable.add(self.id)
            self.counts.damaged += 1
            return 0, False
        self._load()
        self._load_facts()
        self._find_replaced(files)
        self._gone = shipped.gone(self.path)
        read, more = 0, False
        while True:
            try:
                for file in files.values():
                    read += self._read_writer(file, budget - read)
                    if read >= budget:
                        more = True
                        break
                break
            except Late:
                self._reset()
        self._save(files, mtime, more)
        return read, more

    def _load(self) -> None:
        found = self.db.execute("SELECT key FROM runs WHERE id = ?", (self.id,)).fetchone()
        if found is None:
            self.counts.new.add(self.id)
            self.fresh = True
            self.key = (
                self.db.execute(
                    "INSERT INTO runs (id, name, created, journals, facts, settled, look_at)"
                    " VALUES (?, '', 0, -1, '', 0, 0)",
                    (self.id,),
                ).lastrowid
                or 0
            )
            return
        self.counts.changed.add(self.id)
        self.key = found[0]
        row = self.db.execute("SELECT registers FROM cards WHERE run = ?", (self.key,)).fetchone()
        if row is not None:
            self.registers = registers.unpack(row[0])
        for key, name, state in self.db.execute("SELECT key, name, state FROM writers WHERE run = ?", (self.key,)):
            self.writers[name] = key, writer.unpack(state)
            self.stored[name] = state

    def _load_facts(self) -> None:
        path = f"{self.path}/run.json"
        self.facts_mark = facts_mark(path)
        self.facts, self.facts_whole = card.read_facts(path)

    def _find_replaced(self, files: dict[str, JournalFile]) -> None:
        vanished = [name for name in self.writers if name not in files]
        replaced = [name for name, file in files.items() if name in self.writers and not self._same(file)]
        if not vanished and not replaced:
            return
        for name in vanished:
            self.db.execute("DELETE FROM blocks WHERE writer = ?", (self.writers[name][0],))
            self.db.execute("DELETE FROM writers WHERE key = ?", (self.writers.pop(name)[0],))
        self._reset()
        for name in replaced:
            key, _ = self.writers[name]
            self.writers[name] = key, Seen(name)

    def _same(self, file: JournalFile) -> bool:
        """Whether the file still begins with the bytes that were read from it."""
        seen = self.writers[file.writer][1]
        if file.inode == seen.inode and file.packed == seen.packed:
            return file.size == seen.size or (not file.packed and sameness.begins(file.path, seen))
        same = sameness.checksum(file, seen.offset) == seen.checksum
        if same:
            seen.inode, seen.packed = file.inode, file.packed
        return same

    def _reset(self) -> None:
        """Forget what was read; keep which names belong to which columns and when each writer was seen to live."""
        for statement in (
            "DELETE FROM chunks WHERE metric IN (SELECT key FROM metrics WHERE run = ?)",
            "DELETE FROM blocks WHERE writer IN (SELECT key FROM writers WHERE run = ?)",
            "DELETE FROM metrics WHERE run = ?",
            "DELETE FROM records WHERE run = ?",
            "DELETE FROM progress WHERE run = ?",
        ):
            self.db.execute(statement, (self.key,))
        self.registers, self.metrics, self.tails = Registers(), None, {}
        self.bars = None
        for _, seen in self.writers.values():
            seen.offset = seen.checksum = seen.head = seen.torn = seen.lines = seen.rows = seen.damaged = 0
            seen.undeclared, seen.dropped, seen.end, seen.exits, seen.whole = [], {}, None, [], False

    def _read_writer(self, file: JournalFile, budget: int) -> int:
        if file.writer not in self.writers:
            found = self.db.execute(
                "INSERT INTO writers (run, name, state) VALUES (?, ?, x'')", (self.key, file.writer)
            ).lastrowid
            self.writers[file.writer] = found or 0, Seen(file.writer)
        key, seen = self.writers[file.writer]
        seen.inode, seen.packed, seen.gone = file.inode, file.packed, file.writer in self._gone
        if seen.whole and file.size == seen.size:
            note_size(seen, seen.size, self.now)  # says something new only after a boot of ours
            return 0
        before, seen.whole = seen.offset, False
        for piece in self.ahead.pop(file.path, ()) if not seen.offset and not file.packed else ():
            self._take_piece(key, seen, piece)
        try:
            with sameness.opened(file) as stream:
                seen.whole = self._read_pieces(key, seen, stream, budget - (seen.offset - before))
        except (EOFError, zlib.error, gzip.BadGzipFile):  # a packed journal with a broken end
            seen.damaged += 1
            self.counts.damaged += 1
            seen.whole = True
        except OSError as error:  # packed or removed meanwhile, not ours to read, or not to be had: the next look tries
            seen.refused = error.strerror or str(error)
            return 0
        seen.refused = ""
        if seen.whole:
            note_size(seen, file.size if file.packed else seen.offset + seen.torn, self.now)
        return seen.offset - before

    def _read_pieces(self, key: int, seen: Seen, stream: BinaryIO, budget: int) -> bool:
        """True when the end was reached."""
        if seen.offset:
            stream.seek(seen.offset)
        data, reach, read = b"", PIECE_BYTES, 0
        while read < budget:
            wanted = reach
            piece = stream.read(wanted)
            data = data + piece if data else piece
            chunk = parse(data)
            if chunk.size:
                seen.offset += chunk.size
                read += chunk.size
                whole = data[: chunk.size] if chunk.torn else data
                seen.checksum = crc32(whole, seen.checksum)
                if seen.offset == chunk.size:
                    seen.head = crc32(whole[:HEAD_BYTES])
                seen.lines += chunk.lines
                seen.damaged += chunk.damaged
                self._count(len(whole), chunk.lines, chunk.damaged)
                self._take_records(key, seen, chunk.records)
                for table in chunk.tables:
                    self._take_rows(key, seen, table)
                seen.rows += chunk.rows
            elif piece:
                reach *= 2  # a line longer than a piece
            data = data[chunk.size :]
            if len(piece) < wanted:  # a short read is the end, for now
                seen.torn = len(data)
                return True
        seen.torn = 0
        return False

    def _take_piece(self, key: int, seen: Seen, piece: Piece) -> None:
        seen.head = piece.head if not seen.offset else seen.head
        seen.offset += piece.size
        seen.checksum = piece.checksum
        seen.lines += piece.lines
        seen.damaged += piece.damaged
        self._count(piece.size, piece.lines, piece.damaged)
        self._take_records(key, seen, piece.records)
        for columns, table in piece.tables:
            if self._has_place(seen, columns, len(table.steps) + table.damaged):
                self._take_table(key, seen, columns, table)
        seen.rows += piece.rows

    def _count(self, size: int, lines: int, damaged: int) -> None:
        self.counts.bytes += size
        self.counts.lines += lines
        self.counts.damaged += damaged

    def _damage(self, seen: Seen, lines: int) -> None:
        """Lines that are whole but say what cannot be."""
        seen.damaged += lines
        self.counts.damaged += lines

    def _take_records(self, key: int, seen: Seen, records: list[dict[str, Any]]) -> None:
        kept = []
        for record in records:
            kind, t = record["k"], writer.moment(record)
            seen.seen = max(seen.seen, t)
            if kind == "beat":
                seen.oom = oom if fits(oom := record.get("oom")) else seen.oom
            elif kind == "columns":
                self._declare(seen, record)
            elif kind == "open":
                writer.note_open(seen, record, self.id)
            elif kind == "dropped":
                self._note_dropped(seen, record.get("counts"))
            elif kind == "end":
                seen.end = record
            elif kind == "exit":
                seen.exits.append(record)
            elif kind == "progress":
                self.bars = self.bars or Bars(self.db, self.key, self.fresh)
                self.bars.take(key, seen.name, record)
            if kind in registers.FOLDED or kind in registers.HEARD:
                self.registers.take(record, seen)
            if kind not in registers.FOLDED:
                kept.append((self.key, key, t, str(kind), wire.dumps(record)))
        if kept:
            self.db.executemany("INSERT INTO records (run, writer, time, kind, body) VALUES (?, ?, ?, ?, ?)", kept)

    def _note_dropped(self, seen: Seen, counts: Any) -> None:
        if isinstance(counts, dict):
            seen.dropped = {str(why): n for why, n in counts.items() if fits(n)}
            if any(type(n) is int and not fits(n) for n in counts.values()):
                self._damage(seen, 1)

    def _declare(self, seen: Seen, record: dict[str, Any]) -> None:
        number, names, tags = record.get("id"), record.get("names"), record.get("tags")
        if type(number) is not int or not isinstance(names, list):
            return
        if not fits(number):
            self._damage(seen, 1)
            return
        seen.columns[number] = [str(name) for name in names], tags if isinstance(tags, dict) else {}
        if number in seen.undeclared:
            raise Late

    def _take_rows(self, key: int, seen: Seen, rows: Rows) -> None:
        columns = rows.id
        if self._has_place(seen, columns, len(rows.columns[0])):
            lines = shifted(rows.places, seen.rows)
            width, opened = len(seen.columns[columns][0]), seen.started or self._born()
            self._take_table(key, seen, columns, tabulate(rows.columns, width, opened, lines))

    def _has_place(self, seen: Seen, columns: int, count: int) -> bool:
        """Whether so many rows of these columns can be taken in."""
        if not fits(columns):
            self._damage(seen, count)
            return False
        if columns not in seen.columns:
            if columns not in seen.undeclared:
                seen.undeclared.append(columns)
            return False
        return True

    def _take_table(self, key: int, seen: Seen, columns: int, table: Table) -> None:
        tail, entries = self._tail(key, seen, columns)
        if len(table.values) != len(entries):  # rows of another length than was declared
            self._damage(seen, len(table.steps) + table.damaged)
            return
        if table.damaged:
            self._damage(seen, table.damaged)
        if table.steps:
            tail.add(table)
            for entry, mark in zip(entries, table.marks, strict=True):
                entry.add(mark, seen.attempt, seen.name)
            seen.seen = max(seen.seen, table.latest)

    def _tail(self, key: int, seen: Seen, columns: int) -> tuple[Tail, list[Entry]]:
        known = self.tails.get((key, columns))
        names, tags = seen.columns[columns]
        if known is not None and len(known[1]) == len(names):
            return known
        if self.metrics is None:
            self.metrics = Metrics(self.db, self.key, self.fresh)
        text, metrics = tags_text(tags), self.metrics
        entries = [metrics.entry(name, text, seen.rank or 0) for name in names]
        if known is not None:
            known[0].flush()
        tail = Tail(self.db, key, columns, seen.attempt, [entry.key for entry in entries], self.fresh)
        self.tails[key, columns] = tail, entries
        return tail, entries

    def _born(self) -> float:
        return seconds(self.facts.get("created")) or 0.0

    def _save(self, files: dict[str, JournalFile], mtime: int, more: bool) -> None:
        for tail, _ in self.tails.values():
            tail.flush()
        metrics = self.metrics or Metrics(self.db, self.key, self.fresh)
        metrics.save()
        bars = self.bars or Bars(self.db, self.key, self.fresh)
        bars.save()
        for name, (_, seen) in self.writers.items():
            note_gone(seen, files[name].path, self.now)
        states = [(pack(seen), key, name) for name, (key, seen) in self.writers.items()]
        self.db.executemany(
            "UPDATE writers SET state = ? WHERE key = ?",
            [(state, key) for state, key, name in states if state != self.stored.get(name)],
        )
        writers = [seen for _, seen in self.writers.values()]
        row = card.build(
            self.id,
            self.path,
            self.facts,
            self.registers,
            metrics.stats(),
            bars.main(),
            writers,
            mtime / 1e9,
            self.facts_whole,
        )
        judged = verdict(writers, self.now, row.created)
        over = all(final(seen, self.now) for seen in writers) and judged.state != RUNNING
        closed = not more and over
        again = 0.0 if more or closed else look_at(writers, self.now)
        settled = CLOSED if closed else QUIET if again else OPEN
        if settled:
            row = card.with_state(row, judged, torn_lines(writers, self.now))
        self.db.execute(
            "INSERT INTO cards (run, card, registers) VALUES (?, ?, ?)"
            " ON CONFLICT (run) DO UPDATE SET card = excluded.card, registers = excluded.registers",
            (self.key, pack(row), pack(self.registers)),
        )
        mark = self.facts_mark if self.facts_whole else "!" + self.facts_mark
        trusted = mtime if self.now.wall - mtime / 1e9 > TRUSTED_AGE else -1
        self.db.execute(
            "UPDATE runs SET name = ?, created = ?, journals = ?, facts = ?, settled = ?, look_at = ? WHERE key = ?",
            (row.name, row.created, trusted, mark, settled, again, self.key),
        )


def facts_mark(path: str) -> str:
    try:
        found = os.stat(path)
    except OSError:
        return ""
    return f"{found.st_ino} {found.st_size} {found.st_mtime_ns}"


def _mtime(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0

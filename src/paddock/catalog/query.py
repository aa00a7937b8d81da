"""Read-only SQL over the catalog.

The question is asked of a database in memory that holds just the tables it mentions, so nothing it says can reach
the index or a file.
"""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from paddock import wire
from paddock.catalog.metrics import label, tags_text
from paddock.errors import UsageError
from paddock.model import RunRow

if TYPE_CHECKING:
    from paddock.catalog.catalog import Catalog

_TABLES = Path(__file__).with_name("query.sql")
_ALLOWED = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}
_ENDLESS = "Give it a LIMIT or a WHERE, and every WITH RECURSIVE an end; `paddock export` writes all points to a file."
_PRAGMAS = {"table_info", "table_xinfo", "table_list"}


class Limits(NamedTuple):
    """An answer beyond these is taken for a mistake, such as a recursion without an end."""

    rows: int = 10_000_000
    seconds: float = 60.0


LIMITS = Limits()


def ask(
    catalog: Catalog, text: str, params: Sequence[Any] | Mapping[str, Any] = (), limits: Limits = LIMITS
) -> tuple[list[str], list[tuple[Any, ...]]]:
    words = {word.lower() for word in re.findall(r"\w+", text)}
    db = sqlite3.connect(":memory:", isolation_level=None)
    try:
        db.executescript(_TABLES.read_text())
        _fill(db, catalog, text, words)
        db.execute("PRAGMA query_only = ON")
        db.set_authorizer(_authorize)
        deadline = time.monotonic() + limits.seconds
        db.set_progress_handler(lambda: time.monotonic() > deadline, 1_000_000)  # lets Ctrl-C through, too
        try:
            cursor = db.execute(text, params)
            return [column[0] for column in cursor.description or ()], _fetch(cursor, limits)
        except (sqlite3.Error, sqlite3.Warning) as error:
            if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_INTERRUPT:
                raise UsageError(
                    f"The SQL was stopped: it took longer than {limits.seconds:g} seconds.", hint=_ENDLESS
                ) from None
            raise UsageError(f"The SQL cannot be run: {error}.", hint=_hint(db)) from None
        except (OverflowError, ValueError, TypeError) as error:
            raise UsageError(f"The SQL's parameters cannot be used: {error}.") from None
    finally:
        db.close()


def _fetch(cursor: sqlite3.Cursor, limits: Limits) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    while some := cursor.fetchmany(10_000):
        rows += some
        if len(rows) > limits.rows:
            raise UsageError(f"The SQL was stopped: it gives more than {limits.rows:,} rows.", hint=_ENDLESS)
    return rows


def _authorize(action: int, first: str | None, second: str | None, *_: str | None) -> int:
    if action == sqlite3.SQLITE_FUNCTION and second == "load_extension":
        return sqlite3.SQLITE_DENY
    if action in _ALLOWED or (action == sqlite3.SQLITE_PRAGMA and first in _PRAGMAS):
        return sqlite3.SQLITE_OK
    return sqlite3.SQLITE_DENY


def _hint(db: sqlite3.Connection) -> str:
    db.set_authorizer(None)
    names = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY rowid")]
    return f"It may only read; the tables are {', '.join(names)}."


def _fill(db: sqlite3.Connection, catalog: Catalog, text: str, words: set[str]) -> None:
    rows = catalog.runs()
    wide = "*" in text or not words.isdisjoint({"config", "summary"})
    sources: dict[str, Callable[[], Iterable[tuple[Any, ...]]]] = {
        "runs": lambda: (_run(row, wide) for row in rows),
        "metrics": lambda: (
            (row.id, name, *stat, row.goals.get(name)) for row in rows for name, stat in row.metrics.items()
        ),
        "config": lambda: ((row.id, *item) for row in rows for item in _flat(row.config)),
        "summary": lambda: ((row.id, *item) for row in rows for item in _flat(row.summary)),
        "tags": lambda: ((row.id, tag) for row in rows for tag in row.tags),
        "records": lambda: (record for row in rows for record in _records(catalog, row.id)),
        "points": lambda: _points(catalog, rows),
    }
    db.execute("BEGIN")
    for table, source in sources.items():
        if table in words:
            width = len(db.execute(f"SELECT * FROM {table}").description)
            db.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * width)})", source())
    db.execute("COMMIT")


def _run(row: RunRow, wide: bool) -> tuple[Any, ...]:
    """`wide`: with config and summary, whose encoding costs more than all the rest."""
    return (
        *(
            row.id,
            row.name,
            row.project,
            row.group,
            row.job_type,
            row.state,
            row.reason,
            row.created,
            row.started,
            row.ended,
        ),
        *(
            row.seen,
            row.attempts,
            row.host,
            row.user,
            row.commit,
            row.code,
            row.parent,
            row.queue or None,
            row.star,
            row.bug,
        ),
        *(row.alerts, row.damaged, row.dropped, row.path, _json(row.tags), row.notes, _json(row.command)),
        *((_json(row.config), _json(row.summary)) if wide else (None, None)),
    )


def _records(catalog: Catalog, run_id: str) -> Iterator[tuple[Any, ...]]:
    for record in catalog.records(run_id):
        yield run_id, record.pop("writer"), record.get("t"), record.get("k"), _json(record)


def _points(catalog: Catalog, rows: list[RunRow]) -> Iterator[tuple[Any, ...]]:
    for batch in catalog.points([row.id for row in rows]):
        text = tags_text(batch.tags)
        name, fixed = label(batch.metric, text), (batch.rank, batch.attempt, text or None)
        yield from zip(
            repeat(batch.run), repeat(name), batch.steps, batch.times, batch.values, *map(repeat, fixed), strict=False
        )


def _flat(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in values.items():
        if isinstance(value, dict) and value:
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", _plain(value)


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, (str, float, bool)):
        return value
    if isinstance(value, int):
        return value if -(2**63) <= value < 2**63 else float(value)
    return _json(value)


def _json(value: Any) -> str:
    return wire.dumps(wire.plain(value).value).decode()

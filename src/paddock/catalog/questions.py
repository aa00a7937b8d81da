"""What was asked and has had no answer yet."""

from __future__ import annotations

import sqlite3
from typing import Any

from paddock import wire
from paddock.catalog.writer import moment, seconds
from paddock.model import Question


def unanswered(db: sqlite3.Connection, run_id: str | None = None) -> list[Question]:
    """Of one run, or of all; whether who asked still lives is another matter."""
    rows = db.execute(
        "SELECT r.id, w.name, e.kind, e.body FROM records AS e JOIN runs AS r ON r.key = e.run"
        " JOIN writers AS w ON w.key = e.writer WHERE e.kind IN ('ask', 'answer', 'answered')"
        " AND (:run IS NULL OR r.id = :run) ORDER BY e.time, e.key",
        {"run": run_id},
    ).fetchall()
    answered = {(run, record.get("ask")) for run, _, kind, body in rows if kind != "ask" for record in [_read(body)]}
    asked = [_question(run, writer, _read(body)) for run, writer, kind, body in rows if kind == "ask"]
    return [question for question in asked if question.id and (question.run, question.id) not in answered]


def _read(body: bytes) -> dict[str, Any]:
    found = wire.loads(body)
    return found if isinstance(found, dict) else {}


def _question(run: str, writer: str, record: dict[str, Any]) -> Question:
    choices, default = record.get("choices"), record.get("default")
    return Question(
        id=str(record.get("id") or ""),
        run=run,
        prompt=str(record.get("prompt") or ""),
        choices=tuple(map(str, choices)) if isinstance(choices, list) else (),
        default=None if default is None else str(default),
        secret=bool(record.get("secret")),
        asked=moment(record),
        until=seconds(record.get("until")),
        writer=writer,
    )

"""What tag, note, star and bug share: find the runs, append one record to each, say so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from paddock.cli.choose import named
from paddock.cli.command import Session
from paddock.cli.shape import label
from paddock.model import RunRow
from paddock.queue.entry.record import give_record
from paddock.record.annotation import annotate
from paddock.record.layout import RunDirectory


def append_to(session: Session, names: Sequence[str], record: dict[str, Any], said: Callable[[RunRow], str]) -> None:
    """Nothing is written unless every name is known."""
    with session.catalog() as catalog:
        runs = named(catalog, names)
        for run in runs:
            give_record(session.home, run.id)
            annotate(RunDirectory(session.home.runs / run.id), record)
        catalog.refresh()
        after = named(catalog, [run.id for run in runs])
    shown = ("id", "name", "tags", "notes", "star", "bug")
    session.out.json({"runs": [{key: getattr(run, key) for key in shown} for run in after]})
    for run in after:
        session.out.line(f"{label(run)}: {said(run)}")

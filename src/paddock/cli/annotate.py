"""What tag, note, star and bug share: find the runs, append one record to each, say so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from paddock.cli.choose import choose, named
from paddock.cli.command import Session
from paddock.cli.ls import list_runs
from paddock.cli.queued import confirm
from paddock.cli.shape import label
from paddock.compare.text import many
from paddock.errors import NotFound
from paddock.model import RunRow
from paddock.queue.entry.record import give_record
from paddock.record.annotation import annotate
from paddock.record.layout import RunDirectory

_LISTED = 50  # runs shown before the question


def append_to(
    session: Session,
    words: Sequence[str],
    record: dict[str, Any],
    said: Callable[[RunRow], str],
    *,
    verb: str = "",
    yes: bool = False,
) -> None:
    """Nothing is written unless every name is known. With a `verb` the words may be a query; what it fits is listed,
    and done only after a yes."""
    with session.catalog() as catalog:
        runs, queried = choose(catalog, words) if verb else (named(catalog, words), False)
        if not runs:
            raise NotFound("No run fits.", hint="`paddock ls` with the same query shows what it means.")
        if queried and not yes:
            list_runs(session.out, runs[:_LISTED])
            if len(runs) > _LISTED:
                session.out.line(f"and {len(runs) - _LISTED:,} more")
            confirm(session.out, f"{verb} {many(len(runs), 'run')}?", "Nothing was changed")
        for run in runs:
            give_record(session.home, run.id)
            annotate(RunDirectory(session.home.runs / run.id), record)
        catalog.refresh()
        after = named(catalog, [run.id for run in runs])
    shown = ("id", "name", "tags", "notes", "star", "bug")
    session.out.json({"runs": [{key: getattr(run, key) for key in shown} for run in after]})
    for run in after:
        session.out.line(f"{label(run)}: {said(run)}")

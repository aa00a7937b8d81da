"""paddock note: write a note on a run."""

from __future__ import annotations

import click

from paddock.cli.annotate import append_to
from paddock.cli.command import Session, verb


@verb("note", help="Write a note on a run. It replaces the note shown; earlier ones stay in the record.")
@click.argument("run")
@click.argument("text", nargs=-1, required=True)
def note(session: Session, run: str, text: tuple[str, ...]) -> None:
    append_to(session, [run], {"k": "note", "text": " ".join(text)}, lambda run: run.notes)

"""paddock bug: mark runs."""

from __future__ import annotations

import click

from paddock.cli.annotate import append_to
from paddock.cli.command import Session, verb


@verb("bug", help="Mark runs as broken ones; --off takes the mark away.")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option("--off", is_flag=True, help="Take the mark away.")
def bug(session: Session, runs: tuple[str, ...], off: bool) -> None:
    append_to(session, runs, {"k": "bug", "on": not off}, lambda _: "no bug" if off else "bug")

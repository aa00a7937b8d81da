"""paddock star: mark runs."""

from __future__ import annotations

import click

from paddock.cli.annotate import append_to
from paddock.cli.command import Session, verb


@verb("star", help="Mark runs as good ones; --off takes the mark away.")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option("--off", is_flag=True, help="Take the mark away.")
def star(session: Session, runs: tuple[str, ...], off: bool) -> None:
    append_to(session, runs, {"k": "star", "on": not off}, lambda _: "no star" if off else "star")

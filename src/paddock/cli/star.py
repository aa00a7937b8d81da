"""paddock star: mark runs."""

from __future__ import annotations

import click

from paddock.cli.annotate import append_to
from paddock.cli.command import Session, verb

_HELP = """Mark runs as good ones; --off takes the mark away.

\b
  paddock star RUN RUN
  paddock star 'project=mnist best.acc>0.99'

What a query fits is listed, and you are asked; the answer is No unless you say yes.
"""


@verb("star", help=_HELP)
@click.argument("words", nargs=-1, required=True, metavar="RUN... | QUERY")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@click.option("--off", is_flag=True, help="Take the mark away.")
def star(session: Session, words: tuple[str, ...], off: bool, yes: bool) -> None:
    record, verb = {"k": "star", "on": not off}, "Take the mark from" if off else "Mark"
    append_to(session, words, record, lambda _: "no star" if off else "star", verb=verb, yes=yes)

"""paddock k8s cancel: end Jobs and pods of ours."""

from __future__ import annotations

import click

from paddock.cli.command import Session, verb
from paddock.cli.k8s.place import choose, client, on_option, things
from paddock.cli.queued import confirm
from paddock.compare.text import many
from paddock.errors import UsageError
from paddock.work.kubernetes.launcher import END_SECONDS

_HELP = """Delete Jobs and pods of ours, and wait until they are gone.

A task whose Job is deleted here is lost with it, and gets another one: `paddock cancel` is for tasks. This is for pods
of `paddock k8s run`, and for what other queues have left behind.
"""


@verb("k8s cancel", help=_HELP)
@click.argument("names", nargs=-1, metavar="[NAME]...")
@on_option
@click.option("-a", "--all", "everything", is_flag=True, help="All that is not over.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
def cancel(session: Session, names: tuple[str, ...], on: str | None, everything: bool, yes: bool) -> None:
    if bool(names) == everything:
        raise UsageError("What is to be cancelled?", hint="Name it, or say --all.")
    cluster = client(on)
    found = things(cluster)
    chosen = [choose(found, name, cluster.where) for name in names] or [one for one in found if not one.is_over]
    if everything and chosen and not yes:
        confirm(session.out, f"Cancel {many(len(chosen), 'job')} in {cluster.where}?", "Nothing was changed")
    for kind in ("Job", "Pod"):
        if wanted := [one.name for one in chosen if one.kind == kind.lower()]:
            cluster.delete(kind, wanted, wait=END_SECONDS)
    session.out.json({"cancelled": [one.name for one in chosen]})
    for one in chosen:
        session.out.bare(one.name)
        session.out.line(f"cancelled: {one.name}")

"""paddock k8s status: what of ours is in a namespace."""

from __future__ import annotations

import click

from paddock.cli.command import Session, verb
from paddock.cli.k8s.place import STYLES, client, on_option, things
from paddock.cli.output import Cell
from paddock.cli.queued import fitted_table

_HELP = """The Jobs and pods of ours in a namespace: what runs, where, and what the others wait for. One question to the
cluster, however many there are.
"""


@verb("k8s status", help=_HELP)
@on_option
@click.option("-a", "--all", "everything", is_flag=True, help="What is over, too.")
def status(session: Session, on: str | None, everything: bool) -> None:
    cluster = client(on)
    known = things(cluster)
    if not known:
        cluster.require_namespace()
    found = [one for one in known if everything or not one.is_over]
    session.out.json({"jobs": [{**one._asdict()} for one in found]})
    rows: list[list[Cell]] = []
    for one in found:
        session.out.bare(one.task or one.name)
        rows.append(
            [(one.task or one.name, "bold"), one.kind, (one.state, STYLES.get(one.state, "")), one.node, one.about]
        )
    if rows:
        fitted_table(session.out, ["id", "kind", "state", "node", "why"], rows, flexible=[4])
    else:
        more = "" if everything else " that is not over; --all shows the rest"
        session.out.note(f"Nothing of ours is in {cluster.where}{more}.")

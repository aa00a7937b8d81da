"""paddock k8s logs: what a pod printed."""

from __future__ import annotations

import sys

import click

from paddock.cli.command import Session, verb
from paddock.cli.k8s.place import choose, client, look, on_option, rest
from paddock.errors import NotFound
from paddock.work.kubernetes import logs as logs_

_LOOK_SECONDS = 30.0  # at least so often, whatever the cluster tells by itself
_HELP = """What the pod of a task, or of `paddock k8s run`, printed. -f follows it until it ends.

A pod that shares the home prints what its worker says; what the task printed is shown by `paddock logs`.
"""


@verb("k8s logs", help=_HELP)
@click.argument("name")
@on_option
@click.option("-f", "--follow", is_flag=True, help="Wait for more until it has ended.")
@click.option("--tail", type=click.IntRange(min=0), metavar="N", help="The last lines only.")
def logs(session: Session, name: str, on: str | None, follow: bool, tail: int | None) -> None:
    cluster = client(on)
    said = ""
    while True:
        found = look(cluster)
        thing = choose(found.things, name, cluster.where)
        if thing.pod and thing.state != "pending":
            break
        if not follow:
            raise NotFound(f"{name} has printed nothing yet: {thing.about}.", hint="-f waits for it.")
        if thing.about != said:
            said = thing.about
            session.out.note(f"{name} waits: {said}")
        rest(cluster, found, "Pod", _LOOK_SECONDS)
    for data in logs_.follow(cluster, thing.pod, tail) if follow else cluster.logs(thing.pod, tail=tail):
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()

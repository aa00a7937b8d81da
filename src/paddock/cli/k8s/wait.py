"""paddock k8s wait: until Jobs and pods are over."""

from __future__ import annotations

import sys
import time

import click

from paddock.cli.command import Session, verb
from paddock.cli.k8s.place import STYLES, choose, client, look, on_option, rest
from paddock.cli.span import SPAN
from paddock.errors import TaskFailed, TimedOut

_LOOK_SECONDS = 60.0  # at least so often, whatever the cluster tells by itself
_MIXED_SECONDS = 1.0  # the same, while both Jobs and pods are waited for
_HELP = """Wait until Jobs and pods of ours are over; without a name, all that are not over now.

The exit code is 0 when all are done, 10 when one failed or was removed, 11 when the time was over first.
"""


@verb("k8s wait", help=_HELP)
@click.argument("names", nargs=-1, metavar="[NAME]...")
@on_option
@click.option("--timeout", type=SPAN, metavar="TIME", help="Wait no longer than 90s, 1h30m, 4:00:00.")
def wait(session: Session, names: tuple[str, ...], on: str | None, timeout: float | None) -> None:
    out, cluster = session.out, client(on)
    end = time.monotonic() + timeout if timeout is not None else None
    found = look(cluster)
    chosen = [choose(found.things, name, cluster.where) for name in names]
    chosen = chosen or [one for one in found.things if not one.is_over]
    left = {one.name: one for one in chosen}
    over: dict[str, str] = {}
    while True:
        now = {one.name: one for one in found.things}
        for name in list(left):
            state = now[name].state if name in now else "gone"
            if state in ("done", "failed", "gone"):
                del left[name]
                over[name] = state
                out.line(f"{state:7} {name}  {now[name].about if name in now else ''}", STYLES.get(state, "magenta"))
                out.flush()
        if not left or (end is not None and time.monotonic() >= end):
            break
        kinds = {one.kind.capitalize() for one in left.values()}
        pause = _LOOK_SECONDS if len(kinds) == 1 else _MIXED_SECONDS
        rest(cluster, found, kinds.pop(), pause if end is None else min(pause, max(end - time.monotonic(), 0.0)))
        found = look(cluster)
    out.json({"over": over, "left": sorted(left)})
    if left:
        out.note(f"{len(left)} not over yet.")
        sys.exit(TimedOut.exit_code)
    if any(state != "done" for state in over.values()):
        sys.exit(TaskFailed.exit_code)

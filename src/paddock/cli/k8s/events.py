"""paddock k8s events: why something waits, in the cluster's own words."""

from __future__ import annotations

from typing import Any

import click

from paddock.cli.command import Session, verb
from paddock.cli.k8s.place import choose, client, on_option, things
from paddock.cli.output import Cell
from paddock.cli.queued import fitted_table

_HELP = """What the cluster says of a Job and its pods, the latest last: why it waits, which node it has.

Without a NAME, of all that is ours in the namespace.
"""


@verb("k8s events", help=_HELP)
@click.argument("name", required=False)
@on_option
def events(session: Session, name: str | None, on: str | None) -> None:
    cluster = client(on)
    found = things(cluster)
    chosen = [choose(found, name, cluster.where)] if name else found
    known = {one for thing in chosen for one in (thing.name, thing.pod) if one}
    mine = [one for one in cluster.find("Event") if one.get("involvedObject", {}).get("name") in known]
    mine.sort(key=order)
    shown = [
        {
            "time": _time(one),
            "object": one["involvedObject"]["name"],
            "reason": one.get("reason", ""),
            "message": " ".join(str(one.get("message", "")).split()),
            "count": one.get("count") or 1,
        }
        for one in mine
    ]
    session.out.json({"events": shown, "now": {thing.name: thing.about for thing in chosen}})
    rows: list[list[Cell]] = [
        [_whole(one["time"]), one["object"], (one["reason"], "bold"), one["message"]] for one in shown
    ]
    if rows:
        fitted_table(session.out, ["time", "object", "reason", "message"], rows, flexible=[3])
    for thing in chosen if name else ():
        session.out.line(f"now: {thing.state}, {thing.about}")
    if not rows and not name:
        session.out.note("The cluster has nothing to say (it forgets events after an hour or so).")


def _time(one: dict[str, Any]) -> str:
    return str(one.get("lastTimestamp") or one.get("eventTime") or one["metadata"].get("creationTimestamp") or "")


def order(one: dict[str, Any]) -> str:
    """Some have fractions of a second: those come after the whole one."""
    return _time(one).rstrip("Z")


def _whole(time: str) -> str:
    """Without what some clusters say of microseconds."""
    return time.partition(".")[0].rstrip("Z") + "Z" if time else ""

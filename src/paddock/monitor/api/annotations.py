"""What people say of runs: tags, notes, stars and bugs. Each is a record of its own; nothing is rewritten."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct

from paddock.errors import UsageError
from paddock.monitor.api.shapes import Run
from paddock.monitor.http.route import Call, Reply, Route
from paddock.queue.entry.record import give_record
from paddock.record.annotation import annotate

Tag = Annotated[str, Meta(min_length=1, max_length=1000)]


class Said(Struct, frozen=True, forbid_unknown_fields=True):
    """What is given is changed; the rest stays as it is."""

    tag: tuple[Tag, ...] = ()  # to add
    untag: tuple[Tag, ...] = ()  # to remove
    note: Annotated[str, Meta(max_length=1_000_000)] | None = None
    star: bool | None = None
    bug: bool | None = None

    def records(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        if self.tag or self.untag:
            found.append({"k": "tag", "add": list(self.tag), "remove": list(self.untag)})
        if self.note is not None:
            found.append({"k": "note", "text": self.note})
        found += [{"k": kind, "on": on} for kind, on in (("star", self.star), ("bug", self.bug)) if on is not None]
        return found


def say(call: Call) -> Reply:
    records = call.body.records()
    if not records:
        raise UsageError("Nothing is said of the run.", hint="Give tag, untag, note, star or bug.")
    call.house.fresh()
    found = call.house.find(call.path["run"])
    give_record(found.home, found.entry.row.id)
    for record in records:
        annotate(found.directory, record)
    call.house.fresh(at_once=True)
    return Reply(call.house.find(found.entry.row.id).entry.json)


ROUTES = [
    Route(
        "POST",
        "/api/v1/runs/{run}/annotations",
        say,
        "Tag a run, write a note on it, mark it as a good one or a broken one.",
        body=Said,
        answer=Run,
    ),
]

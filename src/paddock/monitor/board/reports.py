"""Reports: saved comparisons with prose, which people write on the board."""

from __future__ import annotations

import getpass
from typing import Annotated

from msgspec import Meta, Struct

from paddock.monitor.http.route import Call, Reply, Route
from paddock.record import reports as kept
from paddock.record.layout import Home
from paddock.record.reports import MOST_BYTES, Block, Report


class ReportList(Struct, frozen=True):
    """The latest saved first."""

    reports: list[Report]


class Draft(Struct, frozen=True, forbid_unknown_fields=True):
    """`base` is the `name` of the version that was changed."""

    title: Annotated[str, Meta(min_length=1, max_length=500)]
    blocks: Annotated[tuple[Block, ...], Meta(max_length=500)] = ()
    base: Annotated[str, Meta(max_length=200)] = ""


class Removal(Struct, frozen=True, forbid_unknown_fields=True):
    base: Annotated[str, Meta(max_length=200)] = ""


def listed(call: Call) -> ReportList:
    """Of every home; one that is in two is shown once."""
    found = {report.id: report for home in reversed(call.house.homes) for report in kept.reports(home)}
    return ReportList(sorted(found.values(), key=lambda report: -report.saved))


def shown(call: Call) -> Report:
    return kept.read(_home(call), call.path["report"])


def created(call: Call) -> Report:
    return kept.save(call.house.home, None, _content(call.body), user=_user())


def changed(call: Call) -> Report:
    return kept.save(_home(call), call.path["report"], _content(call.body), base=call.body.base, user=_user())


def removed(call: Call) -> Reply:
    home, report = _home(call), call.path["report"]
    old = kept.read(home, report)
    content = {"title": old.title, "blocks": (), "gone": True}
    kept.save(home, report, content, base=call.body.base, user=_user())
    return Reply(b"", 204)


def _home(call: Call) -> Home:
    """The first that has it, else the first."""
    homes = call.house.homes
    return next((home for home in homes if kept.versions(home, call.path["report"])), homes[0])


def _content(draft: Draft) -> dict[str, object]:
    return {"title": draft.title, "blocks": draft.blocks}


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return ""


_ONE = "/api/v1/reports/{report}"
ROUTES = [
    Route("GET", "/api/v1/reports", listed, "Reports, the latest first.", answer=ReportList),
    Route(
        "POST",
        "/api/v1/reports",
        created,
        "A new one.",
        body=Draft,
        answer=Report,
        status=201,
        most_bytes=MOST_BYTES // 2,
    ),
    Route("GET", _ONE, shown, "One report, as it was saved last.", answer=Report),
    Route("POST", _ONE, changed, "Save a report anew.", body=Draft, answer=Report, most_bytes=MOST_BYTES // 2),
    Route("POST", f"{_ONE}/removal", removed, "Remove a report; its history stays.", body=Removal, status=204),
]

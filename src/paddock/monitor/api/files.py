"""Files that were kept with a run."""

from __future__ import annotations

from msgspec import Struct

from paddock.monitor.http import inside
from paddock.monitor.http.inside import Kept
from paddock.monitor.http.route import Call, Route
from paddock.monitor.http.sending import Opened, file_response

MOST_FILES = 10_000


class Files(Struct, frozen=True):
    """`more`: there are others, which are not listed."""

    files: list[Kept]
    more: bool


def files(call: Call) -> Files:
    call.house.fresh()
    directory = call.house.find(call.path["run"]).directory
    return Files(*inside.files(directory.files, MOST_FILES))


def file(call: Call) -> object:
    call.house.fresh()
    directory = call.house.find(call.path["run"]).directory
    opened = Opened(inside.open_inside(directory.files, call.path["file"]))
    name = inside.path_of(call.path["file"])[-1].decode("utf-8", "replace")
    return file_response(call.request, opened, name)


ROUTES = [
    Route("GET", "/api/v1/runs/{run}/files", files, "The files of a run.", answer=Files),
    Route(
        "GET",
        "/api/v1/runs/{run}/files/{file}",
        file,
        "A file of a run, or a range of it.",
        kind="application/octet-stream",
    ),
]

"""What a browser gets: one page for every view, which then asks the API, and the files that it is made of."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from paddock.errors import NotFound
from paddock.monitor.board import bundle
from paddock.monitor.board.bundle import Bundle, File
from paddock.monitor.http.route import Call, Reply, Route, unchanged
from paddock.version import __version__

if TYPE_CHECKING:
    from starlette.requests import Request

# Each view is an address, so that it can be sent to somebody; web/src/route/router.ts reads the same ones.
VIEWS = (
    "/",
    "/runs",
    "/runs/{run}",
    "/compare",
    "/reports",
    "/reports/{report}",
    "/queue",
    "/queue/{queue}",
    "/watches",
    "/watches/{watch}",
    "/now",
)
FOR_EVER = "public, max-age=31536000, immutable"
_UNBUILT = f"""<!doctype html><html lang="en"><meta charset="utf-8"><title>Paddock</title>
<h1>Paddock {__version__}</h1>
<p>The board was not built when this Paddock was installed. In the checkout, <code>make board</code> builds it; then
start the server again. A wheel always has it: <code>pip install .</code></p>
<p>The <a href="/api/v1/openapi.json">API</a> is there all the same, and so is <code>paddock top</code>.</p></html>
"""


@cache
def built() -> Bundle:
    return bundle.read()


def page(call: Call) -> Reply:
    """The board."""
    found = built().page
    if found is None:
        return Reply(_UNBUILT.encode(), kind="text/html; charset=utf-8")
    return unchanged(found.tag) if call.knows(found.tag) else _reply(call, found, "private, no-cache")


def is_mistyped(request: Request) -> bool:
    """Somebody looks for a page that there is not: an address that was cut, or one with a slash too many."""
    asked = request.url.path
    return "text/html" in request.headers.get("accept", "") and not asked.startswith(("/api/", "/assets/"))


def nowhere() -> Reply:
    """The board, which says that there is no such page, and leads to all there is."""
    found = built().page
    return Reply(found.body if found is not None else _UNBUILT.encode(), 404, "text/html; charset=utf-8")


def asset(call: Call) -> Reply:
    """A file of the board; its name changes with what is in it."""
    found = built().assets.get(call.path["asset"])
    if found is None:
        raise NotFound("The board has no such file.", hint="Load the page again: the server may be a newer one.")
    return _reply(call, found, FOR_EVER)


def _reply(call: Call, file: File, cached: str) -> Reply:
    headers = {"etag": file.tag, "cache-control": cached, "vary": "accept-encoding"}
    if file.gzipped is not None and "gzip" in call.request.headers.get("accept-encoding", ""):
        return Reply(file.gzipped, kind=file.kind, headers={**headers, "content-encoding": "gzip"})
    return Reply(file.body, kind=file.kind, headers=headers)


ROUTES = [
    *(Route("GET", view, page, "The board.", kind="text/html", any_query=True) for view in VIEWS),
    Route("GET", "/assets/{asset}", asset, "A file of the board.", kind="application/javascript"),
]

"""What a browser gets at `/`: where things are."""

from __future__ import annotations

from html import escape

from paddock.monitor.http.route import Call, Reply, Route
from paddock.version import __version__

_PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Paddock</title>
<h1>Paddock {version}</h1><p>This server shows {homes}.</p><ul>
<li><a href="/api/v1/runs?columns=id,name,project,state&amp;limit=100">runs</a></li>
<li><a href="/api/v1/now">now</a></li>
<li><a href="/api/v1/queues">queues</a></li>
<li><a href="/api/v1/watches">watches</a></li>
<li><a href="/api/v1/openapi.json">all that can be asked</a></li>
</ul></html>
"""


async def front(call: Call) -> Reply:
    """Where things are."""
    homes = ", ".join(escape(str(home.path)) for home in call.house.homes)
    return Reply(_PAGE.format(version=__version__, homes=homes).encode(), kind="text/html; charset=utf-8")


ROUTES = [Route("GET", "/", front, "Where things are.", kind="text/html")]

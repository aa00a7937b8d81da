"""The server's app: routes of modules, each called with what it declares, behind one guard."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from importlib import import_module
from typing import Any

from anyio import CapacityLimiter, to_thread
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route as Way

from paddock.errors import PaddockError
from paddock.monitor.board import pages
from paddock.monitor.entrance.guard import Guard, Rules
from paddock.monitor.house import House
from paddock.monitor.http import asked, encoding, failure, intake
from paddock.monitor.http.route import Call, Reply, Route
from paddock.monitor.server import openapi

API = "/api/v1"
# Each of these has a list ROUTES. One noun, one module: what is added to the server is added here.
MODULES: tuple[str, ...] = (
    "paddock.monitor.api.server",
    "paddock.monitor.api.runs",
    "paddock.monitor.api.series",
    "paddock.monitor.api.logs",
    "paddock.monitor.api.files",
    "paddock.monitor.api.code",
    "paddock.monitor.api.relations",
    "paddock.monitor.api.annotations",
    "paddock.monitor.api.comparisons",
    "paddock.monitor.api.tasks",
    "paddock.monitor.api.workers",
    "paddock.monitor.api.watches",
    "paddock.monitor.api.alerts",
    "paddock.monitor.api.now",
    "paddock.monitor.api.events",
    "paddock.monitor.api.usage",
    "paddock.monitor.api.ship",
    "paddock.monitor.board.table",
    "paddock.monitor.board.groups",
    "paddock.monitor.board.keys",
    "paddock.monitor.board.bands",
    "paddock.monitor.board.reports",
    "paddock.monitor.board.pages",
    "paddock.monitor.entrance.login",
)
THREADS = 16  # that read disks at a time


def routes(modules: Iterable[str] = MODULES) -> list[Route]:
    return [route for name in modules for route in import_module(name).ROUTES]


def make_app(house: House, rules: Rules, modules: Sequence[str] = MODULES) -> Guard:
    limiter = CapacityLimiter(THREADS)
    declared = routes(modules)
    house.describe = functools.cache(lambda: encoding.encode(openapi.document(declared)))
    ways = [_way(route, _endpoint(route, house, limiter)) for route in declared]

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        await house.open()
        try:
            yield
        finally:
            await house.close()

    handlers: dict[Any, Callable[[Request, Any], Any]] = {HTTPException: _http_error}
    app = Starlette(routes=ways, exception_handlers=handlers, lifespan=lifespan)
    app.router.redirect_slashes = False
    return Guard(app, rules)


def _way(route: Route, endpoint: Callable[[Request], Any]) -> Way:
    """Starlette's patterns end in `$`, which also lets a line end pass: `/%0a` would be `/`."""
    way = Way(route.path, endpoint, methods=[route.method])
    way.path_regex = re.compile(way.path_regex.pattern.removesuffix("$") + r"\Z")
    return way


def _endpoint(route: Route, house: House, limiter: CapacityLimiter) -> Callable[[Request], Any]:
    waits = not inspect.iscoroutinefunction(route.handler)

    async def endpoint(request: Request) -> Response:
        try:
            params = None if route.any_query else asked.params(route.params, request.scope.get("query_string", b""))
            body = None
            if route.body is not None and not route.streams:
                body = asked.body(route.body, await intake.read(request, route.most_bytes))
            call = Call(house, request.path_params, params, body, request)
            if waits:
                found = await to_thread.run_sync(route.handler, call, limiter=limiter)
            else:
                found = await route.handler(call)
        except ClientDisconnect:
            return Response(status_code=499)
        except HTTPException:
            raise
        except (PaddockError, Exception) as error:
            found = failure.reply(error)
        return _response(found, route.status)

    return endpoint


def _response(found: Any, status: int) -> Response:
    if isinstance(found, Response):
        return found
    if not isinstance(found, Reply):
        found = Reply(encoding.encode(found), status)
    return Response(found.body, found.status, dict(found.headers), found.kind)


def _http_error(request: Request, error: HTTPException) -> Response:
    if error.status_code == 404 and pages.is_mistyped(request):
        return _response(pages.nowhere(), 404)
    said = {404: "There is nothing here.", 405: "This cannot be called so."}.get(error.status_code, str(error.detail))
    hint = f"GET {API}/openapi.json lists what there is."
    body = failure.envelope(said, hint, {404: "NotFound", 405: "MethodNotAllowed"}.get(error.status_code, "Error"))
    return Response(body, error.status_code, dict(error.headers or {}), "application/json")

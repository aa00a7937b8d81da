"""The OpenAPI document of the server, made from the same declarations that requests are checked by."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from paddock.monitor.api.shapes import Failed
from paddock.monitor.http.route import Nothing, Route
from paddock.version import __version__

_PLACE = re.compile(r"\{(\w+)\}")
_ABOUT = """Everything that changes something needs the token, as `Authorization: Bearer`; so does reading on a server
that can be reached from other machines. Every error is `{"error": {"message", "hint", "code"}}`. An answer with an
`ETag` costs nothing when that is sent back as `If-None-Match` and nothing has changed."""
_PLACES = {
    "run": "A run's id, its name, or a beginning of either that fits one run only.",
    "file": "A file's id, from the list of files.",
    "queue": "A queue's name.",
    "task": "A task's id.",
    "watch": "A watch's id.",
    "question": "A question's id.",
    "report": "A report's id.",
}
_ERRORS = {
    400: "What was sent cannot be used.",
    401: "The token is missing or wrong.",
    403: "The request came from another page.",
    404: "There is no such thing.",
    409: "It cannot be done as things are, or a name fits several.",
    413: "The body is too large.",
    421: "The server does not go by this name.",
    422: "A record is damaged.",
    503: "The disk refused.",
    504: "It took too long.",
}


def document(routes: Sequence[Route]) -> dict[str, Any]:
    shown = [route for route in routes if route.path.startswith("/api/")]
    types = [kind for route in shown for kind in (route.answer, route.body) if kind is not None]
    schemas, components = msgspec.json.schema_components([*types, Failed], ref_template="#/components/schemas/{name}")
    of = dict(zip(map(id, [*types, Failed]), schemas, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for route in shown:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, of, components)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Paddock", "version": __version__, "description": _ABOUT},
        "servers": [{"url": "/"}],
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(route: Route, of: dict[int, Any], components: dict[str, Any]) -> dict[str, Any]:
    places = [
        {
            "name": name,
            "in": "path",
            "required": True,
            "description": _PLACES.get(name, ""),
            "schema": {"type": "string", "minLength": 1},
        }
        for name in _PLACE.findall(route.path)
    ]
    found: dict[str, Any] = {
        "operationId": _name(route),
        "summary": route.about,
        "tags": [route.path.split("/")[3]],
        "parameters": places + (_parameters(route, components) if route.params is not Nothing else []),
        "responses": _responses(route, of),
        "security": [{"token": []}] if route.changes else [{}, {"token": []}],
    }
    if route.body is not None:
        content = {"application/json": {"schema": of[id(route.body)]}}
        found["requestBody"] = {"required": True, "content": content}
    elif route.streams:
        content = {"application/octet-stream": {"schema": {}}}
        found["requestBody"] = {"required": True, "content": content}
    return found


def _name(route: Route) -> str:
    words = re.findall(r"\w+", route.path.removeprefix("/api/v1"))
    return "_".join([route.method.lower(), *words])


def _parameters(route: Route, components: dict[str, Any]) -> list[dict[str, Any]]:
    (schema,), more = msgspec.json.schema_components([route.params], ref_template="#/components/schemas/{name}")
    own = more.pop(schema["$ref"].rpartition("/")[2])
    components |= more
    required = own.get("required", ())
    found = []
    for name, about in own["properties"].items():
        described = {key: value for key, value in about.items() if key not in ("description", "default")}
        found.append(
            {
                "name": name,
                "in": "query",
                "required": name in required,
                "description": about.get("description", ""),
                "schema": _without_null(described),
            }
        )
    return found


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """A parameter that is not given is not there; there is no way to say null."""
    kinds = [kind for kind in schema.get("anyOf", ()) if kind != {"type": "null"}]
    return kinds[0] if len(kinds) == 1 else schema


def _responses(route: Route, of: dict[int, Any]) -> dict[str, Any]:
    failed = {"application/json": {"schema": of[id(Failed)]}}
    good: dict[str, Any] = {"description": route.about}
    if route.answer is not None:
        good["content"] = {route.kind: {"schema": of[id(route.answer)]}}
    elif route.kind != "application/json":
        good["content"] = {route.kind: {"schema": {}}}
    found = {str(route.status): good}
    if route.method == "GET":
        found["304"] = {"description": "Nothing has changed."}
    if route.kind == "application/octet-stream":
        found["206"] = {"description": "The range that was asked for.", "content": good["content"]}
        found["416"] = {"description": "The file is shorter than that.", "content": failed}
    needed = [400, 401, 403, 404, 409, 421, 503, 504] + ([413, 422] if route.body or route.streams else [])
    return found | {str(status): {"description": _ERRORS[status], "content": failed} for status in sorted(needed)}

"""The description of the API is true: schemathesis calls everything that it lists, and looks at the answers."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from paddock.monitor.server.app import routes
from paddock.monitor.server.openapi import document
from paddock.record.layout import Home
from tests.served import TOKEN, Server, served
from tests.unit.monitor.conftest import fill

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of its own dependencies
    import schemathesis
    from schemathesis.checks import not_a_server_error
    from schemathesis.specs.openapi.checks import (
        content_type_conformance,
        response_headers_conformance,
        response_schema_conformance,
        status_code_conformance,
    )

EXAMPLES, MANY = 5, 300
STREAM = "/api/v1/events"  # has no end
DOCUMENT = document(routes())
CHECKS = [  # a word may fit the schema and still be no query, no regular expression and no run
    not_a_server_error,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
]
CALLS = [(method, path) for path, calls in DOCUMENT["paths"].items() for method in calls if path != STREAM]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    home = Home(tmp_path_factory.mktemp("described") / "home")
    fill(home)
    from paddock.queue.entry.submission import submit

    submit("default", "true", home=home, snapshot=False)
    with served(home) as found:
        yield found


def test_every_route_is_described_once_and_changes_nothing_by_get() -> None:
    declared = [(route.method, route.path) for route in routes()]
    assert len(declared) == len(set(declared))
    for route in routes():
        if not route.path.startswith("/api/"):
            continue
        found = DOCUMENT["paths"][route.path][route.method.lower()]
        assert found["summary"].endswith(".") and route.changes == (route.method != "GET")
        assert found["security"] == ([{"token": []}] if route.changes else [{}, {"token": []}])
    assert json.dumps(DOCUMENT).count("$ref") > 50


def test_every_call_is_on_its_page() -> None:
    page = (Path(__file__).parents[4] / "docs" / "reference" / "api.md").read_text()
    missing = [
        f"{route.method} {route.path}"
        for route in routes()
        if route.path.startswith("/api/") and f"`{route.method} {route.path.removeprefix('/api/v1')}`" not in page
    ]
    assert missing == []


def test_the_document_is_served(server: Server) -> None:
    assert server.get("/api/v1/openapi.json", token=None) == json.loads(json.dumps(DOCUMENT))


@pytest.mark.parametrize(("method", "path"), CALLS)
def test_what_is_described_is_what_is_answered(server: Server, method: str, path: str, long: bool) -> None:
    schema = schemathesis.openapi.from_dict(json.loads(json.dumps(DOCUMENT)))
    operation = schema[path][method.upper()]

    @settings(
        max_examples=MANY if long else EXAMPLES,
        database=None,
        derandomize=not long,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
        deadline=None,
    )
    @given(case=operation.as_strategy())
    def call(case: Any) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            answer = case.call(base_url=server.url, headers={"Authorization": f"Bearer {TOKEN}"})
            case.validate_response(answer, checks=CHECKS)

    call()

"""What the server's answers mean."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from paddock.errors import NotFound
from paddock.work.kubernetes.client import Client
from tests.unit.work.kubernetes.test_connection import send, server


@pytest.mark.parametrize(
    ("status", "said"), [(200, {}), (403, {"message": 'namespaces "team" is forbidden: no access'}), (404, {})]
)
def test_only_a_namespace_that_is_known_to_be_missing_is_refused(
    client: Callable[[int], Client], status: int, said: Any
) -> None:
    """Who may list pods in a namespace need not be allowed to ask for it."""
    said = said or {"message": 'namespaces "team" not found'}
    with server(lambda handler, before: send(handler, status, said)) as (where, seen):
        if status == 404:
            with pytest.raises(NotFound, match="The cluster has no namespace 'team'"):
                client(where.port).require_namespace()
        else:
            client(where.port).require_namespace()
    assert [line.split()[1] for line in seen] == ["/api/v1/namespaces/team"]

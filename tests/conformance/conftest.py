"""One backend after the other. PADDOCK_TEST_BACKENDS names those to try; without it all that need no cluster."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from paddock.record.layout import Home
from tests.acceptance.conftest import new_program
from tests.conformance.backend import Backend, DirectoryBackend, RedisBackend
from tests.conformance.kubernetes import HandedOverBackend, KubernetesBackend
from tests.conformance.slurm import SlurmBackend

_KINDS = (DirectoryBackend, RedisBackend, KubernetesBackend, HandedOverBackend, SlurmBackend)
BACKENDS: dict[str, type[Backend]] = {kind.name: kind for kind in _KINDS}
# Not tried unless named: they want programs that `make test` does not install.
CLUSTERS = frozenset({"kubernetes", "kubernetes-handed-over", "slurm"})


def _chosen() -> list[str]:
    named = os.environ.get("PADDOCK_TEST_BACKENDS", "")
    return [name for name in named.split(",") if name] or [name for name in BACKENDS if name not in CLUSTERS]


@pytest.fixture(params=_chosen())
def backend(request: pytest.FixtureRequest, home: Home, tmp_path: Path) -> Iterator[Backend]:
    made = BACKENDS[request.param](new_program(home.path, tmp_path), home)
    try:
        yield made
    finally:
        made.close()


@pytest.fixture
def needs(backend: Backend, request: pytest.FixtureRequest) -> None:
    """What a test is marked to need and this backend cannot do is skipped, by name."""
    for mark in request.node.iter_markers("needs"):
        missing = set(mark.args) - backend.capabilities
        if missing:
            pytest.skip(f"{backend.name} has no {', '.join(sorted(missing))}")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "needs(*capabilities): skipped where the backend has not all of them")

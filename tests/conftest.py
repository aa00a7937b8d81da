"""Every test has a home, a cache and an environment of its own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from paddock.record.layout import Home

_FOREIGN = ("PADDOCK_", "SLURM_")
_RANKS = ("RANK", "WORLD_SIZE", "LOCAL_RANK")


@pytest.fixture(autouse=True)
def _own_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith(_FOREIGN) or name in _RANKS:
            monkeypatch.delenv(name)
    monkeypatch.setenv("PADDOCK_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PADDOCK_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def home(tmp_path: Path) -> Home:
    found = Home(tmp_path / "home")
    found.prepare()
    return found

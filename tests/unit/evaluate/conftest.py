"""A directory for checkpoints, and a queue for their evaluations."""

from __future__ import annotations

from pathlib import Path

import pytest

from paddock.queue.directory import DirectoryQueue, find_queue
from paddock.record.layout import Home


@pytest.fixture
def queue(home: Home) -> DirectoryQueue:
    found = find_queue("evaluation", home)
    found.prepare()
    return found


@pytest.fixture
def out(tmp_path: Path) -> Path:
    path = tmp_path / "out"
    path.mkdir()
    return path

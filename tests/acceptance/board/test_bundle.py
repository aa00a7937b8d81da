"""What a browser loads is small, and is made from the sources that are there."""

from __future__ import annotations

import gzip
import runpy
from pathlib import Path

from paddock.monitor.board import bundle

MOST_BYTES = 200_000
WEB = Path(__file__).parents[3] / "web"


def test_the_whole_board_is_less_than_200_kb_compressed() -> None:
    found = bundle.read()
    assert found.page is not None, "The board is not built: make board"
    assert found.assets and all(file.gzipped for file in found.assets.values())
    assert all(gzip.decompress(file.gzipped or b"") == file.body for file in found.assets.values())
    assert len(found.page.body) + sum(len(file.gzipped or b"") for file in found.assets.values()) <= MOST_BYTES


def test_the_bundle_is_that_of_the_sources() -> None:
    board = runpy.run_path(str(WEB / "build.py"))
    assert board["is_built"](), "web/ has changed since: make board"
    assert (bundle.STATIC / board["MADE_OF"]).read_text() == board["digest"]()

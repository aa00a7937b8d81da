"""One server, one home and one browser for all tests of the board that a test process runs."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from tests.acceptance.board.eye import Eye, let_in, profile, tab
from tests.acceptance.board.laboratory import Laboratory, fill, laboratory

NO_BROWSER = os.environ.get("PADDOCK_NO_BROWSER") == "1"
PLACES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
MISSING = (
    "The board is tested in a real browser, and there is no Chromium here. Install it (apt-get install chromium), or "
    "leave these tests away: PADDOCK_NO_BROWSER=1 make test"
)


def chromium() -> str:
    found = next(filter(None, map(shutil.which, PLACES)), None)
    if found is None:
        pytest.fail(MISSING, pytrace=False)
    return found


@pytest.fixture(scope="package")
def browser() -> Iterator[Any]:
    """Not for longer than these tests: while it is there, its loop runs in this thread."""
    if NO_BROWSER:
        pytest.skip("PADDOCK_NO_BROWSER=1")
    path = chromium()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield found
        found.close()


@pytest.fixture(scope="package")
def lab(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Laboratory]:
    with laboratory(tmp_path_factory.mktemp("laboratory")) as found:
        fill(found)
        yield found


@pytest.fixture(scope="package")
def _known(browser: Any, lab: Laboratory) -> Iterator[Any]:
    """A browser of somebody who may change things."""
    with profile(browser) as context:
        with tab(context, lab.url) as eye:
            let_in(eye, lab.link())
        yield context


@pytest.fixture
def eye(_known: Any, lab: Laboratory) -> Iterator[Eye]:
    """A tab of this test alone; nothing bad has happened in it when the test is over."""
    with tab(_known, lab.url) as found:
        yield found
        found.fine()

from __future__ import annotations

from collections.abc import Iterator

import pytest

from paddock.track import active


@pytest.fixture(autouse=True)
def _finish_what_a_test_left_open(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("PADDOCK_CAPTURE_CODE", "false")
    monkeypatch.setattr(active, "_joined", False)
    yield
    run = active.current()
    if run is not None:
        run.finish()

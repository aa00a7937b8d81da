"""Looking at homes costs what is new: where the kernel tells of news, everything is looked at the more rarely, the
dearer that is; what only time changes is looked at all the same."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from paddock.monitor.view import refresher
from paddock.monitor.view.news import NAMES, News
from paddock.monitor.view.refresher import Refresher
from tests.waiting import until

DEAR_SECONDS = 0.05  # a look at everything


@pytest.fixture
def looks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[set[str] | None, bool]]:
    monkeypatch.setattr(refresher, "HEARTBEAT_SECONDS", 0.1)
    seen: list[tuple[set[str] | None, bool]] = []

    def look(told: set[str] | None, aged: bool) -> None:
        seen.append((told, aged))
        if told is None:
            time.sleep(DEAR_SECONDS)

    news = News([tmp_path])
    news.watch({str(tmp_path): NAMES})
    watching = Refresher(look, news, lambda: 1)
    watching.start()
    yield seen
    watching.stop()


def test_what_time_changes_is_looked_at_without_a_look_at_everything(looks: list[tuple[set[str] | None, bool]]) -> None:
    until(lambda: len(looks) >= 6)
    assert looks[0] == (None, True)
    assert looks[1:6] == [(set(), True)] * 5  # 5 s are to pass before everything is looked at again


def test_everything_is_looked_at_again_in_the_end(
    looks: list[tuple[set[str] | None, bool]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(refresher, "PRECAUTION_SECONDS", 0.3)
    until(lambda: [told for told, _ in looks].count(None) >= 3)


def test_news_are_looked_at_where_they_are(looks: list[tuple[set[str] | None, bool]], tmp_path: Path) -> None:
    until(lambda: looks)
    (tmp_path / "new").touch()
    until(lambda: any(told == {str(tmp_path)} for told, _ in looks))

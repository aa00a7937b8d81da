"""A training hears that it is to stop, and only the one that is meant."""

from __future__ import annotations

import pytest

import paddock
from paddock.errors import UsageError
from paddock.record import stop
from paddock.record.layout import RunDirectory
from paddock.track import stopping


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stopping, "LOOK_SECONDS", 0.0)


def test_it_says_why_from_when_it_was_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    with paddock.init() as run:
        assert paddock.should_stop() == ""
        stop.ask(RunDirectory(run.path), 1, "acc stalls")
        assert paddock.should_stop() == run.should_stop() == "acc stalls"
        (run.path / stop.NAME).unlink()
        assert paddock.should_stop() == "acc stalls"


def test_whoever_continues_the_run_means_to_go_on() -> None:
    with paddock.init(id="r") as run:
        stop.ask(RunDirectory(run.path), 1, "acc stalls")
    with paddock.init(id="r", resume="must") as run:
        assert run.attempt == 2 and not run.should_stop()
        stop.ask(RunDirectory(run.path), 2, "still")
        assert run.should_stop() == "still"


@pytest.mark.parametrize("content", ["", "{", "[]", '{"attempt": "x", "why": ""}'])
def test_a_file_that_says_nothing_stops_nothing(content: str) -> None:
    with paddock.init() as run:
        (run.path / stop.NAME).write_text(content)
        assert not run.should_stop()


def test_without_a_record_nobody_can_ask() -> None:
    assert paddock.init(mode="disabled").should_stop() == ""
    paddock.finish()
    with pytest.raises(UsageError, match="needs a run"):
        paddock.should_stop()

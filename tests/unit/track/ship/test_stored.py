"""Runs that go through a store, and what somebody else may have put there."""

from __future__ import annotations

from pathlib import Path

import pytest

from paddock.record.layout import Home
from paddock.track.ship.road import StoreRoad
from paddock.track.ship.stored import named, send_runs, take_runs


def test_what_grows_is_sent_and_fetched_and_nothing_twice(home: Home, tmp_path: Path) -> None:
    store, there = StoreRoad(f"file://{tmp_path / 'store'}"), Home(tmp_path / "there")
    journal = home.run("a").path / "journal" / "w.jsonl"
    journal.parent.mkdir(parents=True)
    (home.run("a").path / "run.json").write_text("{}")
    journal.write_text("1\n")
    assert send_runs(home, store, ["a"]) == ""
    assert take_runs(there, store) == (["a"], 4)
    assert take_runs(there, store) == ([], 0)
    journal.write_text("1\n2\n")
    assert send_runs(home, store, ["a"]) == ""
    assert take_runs(there, store, ["b"]) == ([], 0)
    assert take_runs(there, store) == (["a"], 4)
    assert (there.run("a").path / "journal" / "w.jsonl").read_text() == "1\n2\n"


def test_what_is_no_part_of_a_run_is_left_alone(tmp_path: Path) -> None:
    names = ("runs/a/other/x", "runs/.hidden/run.json", "runs/x", "code/a/run.json", "runs/a b/run.json")
    for name in names:
        (tmp_path / "store" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "store" / name).write_text("bad")
    assert take_runs(Home(tmp_path / "home"), StoreRoad(f"file://{tmp_path / 'store'}")) == ([], 0)
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize("name", ["runs/a/files/../../../evil", "runs/../evil/run.json", "/runs/a/run.json"])
def test_a_name_that_leads_out_of_the_runs_is_none(name: str) -> None:
    assert named(name) == ("", "")

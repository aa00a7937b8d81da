"""Everybody who listens hears of everything in a ledger, once."""

from __future__ import annotations

from pathlib import Path

from paddock.evaluate.policy.bell import Bell


def test_two_that_listen_to_one_directory_both_hear_and_others_do_not(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.mkdir(), two.mkdir()
    bell = Bell()
    first, second, other = bell.listen(one), bell.listen(one), bell.listen(two)
    (one / "a.result").touch()
    assert bell.news(other) == set()
    assert bell.news(first) == {"a.result"} and bell.news(first) == set()
    (one / "a.result").unlink()
    assert bell.news(second) == {"a.result"}
    bell.forget(first)
    assert bell.news(first) is None


def test_a_directory_that_goes_away_makes_all_of_them_list(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.mkdir(), two.mkdir()
    bell = Bell()
    first, second = bell.listen(one), bell.listen(two)
    one.rmdir()
    assert bell.news(first) is None and bell.news(second) is None

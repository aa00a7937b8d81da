"""What the user asks for is understood, or refused with a sentence."""

from __future__ import annotations

from typing import Any

import pytest

from paddock.errors import UsageError
from paddock.evaluate.origin.series import series_of
from paddock.evaluate.policy.ending import OVER, RUNNING, UNKNOWN, Situation, reason
from paddock.evaluate.policy.rules import PLAIN, Rules, StopWhen, number_of, stop_when


@pytest.mark.parametrize("text", ["idle 2h", "idle=2h", "idle: 2h", " idle  120m "])
def test_idle_is_understood_however_it_is_written(text: str) -> None:
    assert stop_when([text]) == StopWhen(False, 7200.0)


def test_several_ends_are_whichever_comes_first() -> None:
    assert stop_when(["training-done", "idle=2h", "idle=1h"]) == StopWhen(True, 3600.0)
    assert stop_when([]) == StopWhen()


@pytest.mark.parametrize("text", ["idle", "idle 0", "never", "training-done 2h", ""])
def test_an_end_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        stop_when([text])


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"every": 0}, "at least 1"),
        ({"max_pending": -1}, "at least 0"),
        ({"min_delta": float("nan")}, "at least 0"),
        ({"goal": "up", "metric": "acc"}, "unknown"),
        ({"keep_best": 3}, "by a metric"),
        ({"on_best": "true"}, "by a metric"),
        ({"patience": 3}, "by a metric"),
        ({"metric": "acc", "delete_others": True}, "How many"),
        ({"metric": "acc", "keep_best": 1, "delete_others": True}, "is a high acc good"),
        ({"metric": "acc", "keep_best": 1, "dry_run": True}, "for --delete-others"),
        ({"metric": "acc", "stop_file": "STOP"}, "When is the trainer to stop"),
        ({"metric": "acc", "patience": 1, "stop_signal": "NOPE"}, "no signal"),
        ({"metric": "acc", "min_delta": 0.1}, "for --patience"),
        ({"done_file": "DONE"}, "training-done"),
    ],
)
def test_what_cannot_be_meant_is_refused(given: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        Rules(**given).check()


def test_nothing_asked_for_is_plain() -> None:
    assert Rules().check().are_plain and PLAIN.are_plain
    assert not Rules(every=2).check().are_plain


def test_a_signal_has_a_name_or_a_number() -> None:
    assert number_of("term") == number_of("SIGTERM") == number_of("15")


@pytest.mark.parametrize(
    ("rules", "now", "over"),
    [
        (StopWhen(True), Situation(OVER, 0, 0.0), True),
        (StopWhen(True), Situation(RUNNING, 0, 1e9), False),
        (StopWhen(True), Situation(UNKNOWN, 0, 1e9), False),
        (StopWhen(True), Situation(OVER, 1, 0.0), False),
        (StopWhen(False, 10.0), Situation(RUNNING, 0, 10.0), True),
        (StopWhen(False, 10.0), Situation(OVER, 0, 9.9), False),
        (StopWhen(False, 10.0), Situation(OVER, 1, 99.0), False),
        (StopWhen(True, 10.0), Situation(RUNNING, 0, 11.0), True),
        (StopWhen(), Situation(OVER, 0, 1e9), False),
    ],
)
def test_it_is_over_when_nothing_more_is_to_be_expected(rules: StopWhen, now: Situation, over: bool) -> None:
    assert bool(reason(rules, now)) is over


@pytest.mark.parametrize(
    ("path", "series"),
    [
        ("/out/step=100.pt", "/out"),
        ("/out/checkpoint-500", "/out"),
        ("/out/step_100/model.pt", "/out"),
        ("/out/epoch=1-step=200/model.pt", "/out"),
        ("/out/global_step7/mp_rank_00.pt", "/out"),
        ("/out/run-7/last.pt", "/out/run-7"),
        ("/out/seed1/last.pt", "/out/seed1"),
    ],
)
def test_checkpoints_of_one_training_belong_together(path: str, series: str) -> None:
    assert series_of(path) == series

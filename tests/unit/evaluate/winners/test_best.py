"""Which checkpoint is the best, what is superfluous, and when it stalls."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.errors import UsageError
from paddock.evaluate.policy.standing import Standing
from paddock.evaluate.winners.best import Score, best, bind, is_better, ranked
from paddock.evaluate.winners.keeping import superfluous
from paddock.evaluate.winners.stall import stalled

numbers = st.one_of(st.floats(allow_nan=True), st.integers(-3, 3).map(float))


def scores(*values: float) -> list[Score]:
    return [
        Score(Standing(f"k{step}", step, f"/out/{step}.pt", float(step)), value) for step, value in enumerate(values)
    ]


# Names


@pytest.mark.parametrize(
    ("text", "evaluators", "returned", "value"),
    [
        ("eval/acc", ["accuracy"], {"acc": 0.5, "loss": 1.0}, 0.5),
        ("acc", ["accuracy"], {"acc": 0.5, "loss": 1.0}, 0.5),
        ("eval/accuracy/acc", ["accuracy", "bleu"], {"acc": 0.5, "loss": 1.0}, 0.5),
        ("bleu/score", ["accuracy", "bleu"], {"score": 3}, 3.0),
        ("eval/bleu", ["accuracy", "bleu"], {"score": 3}, 3.0),
        ("eval/acc", ["acc"], {"acc": 0.5, "loss": 1.0}, 0.5),
        ("eval/top/1", ["top"], {"top/1": 0.5, "top/5": 0.9}, 0.5),
        ("eval/acc", ["accuracy"], {"loss": 1.0}, None),
        ("eval/acc", ["acc"], {"loss": 1.0, "ppl": 2.0}, None),
    ],
)
def test_a_metric_is_found_by_what_the_user_calls_it(
    text: str, evaluators: list[str], returned: dict[str, float], value: float | None
) -> None:
    assert bind(text, evaluators).value_of(returned) == value


def test_a_number_that_the_ledger_could_not_hold_is_none() -> None:
    found = bind("acc", ["eval"]).value_of({"acc": None})
    assert found is not None and math.isnan(found)


def test_with_two_evaluators_the_metric_must_say_whose_it_is() -> None:
    with pytest.raises(UsageError, match="Which evaluator"):
        bind("eval/acc", ["one", "two"])


# The best


@given(st.lists(numbers, min_size=1), st.sampled_from(["min", "max"]))
def test_nothing_is_better_than_the_best_and_the_earlier_of_equals_counts(values: list[float], goal: str) -> None:
    found = scores(*values)
    top = best(reversed(found), goal)
    real = [value for value in values if not math.isnan(value)]
    if top is None:
        assert real == []
        return
    assert top.value == (max(real) if goal == "max" else min(real))
    assert all(score.value != top.value for score in found[: top.at.step or 0])
    assert not any(is_better(score.value, top.value, goal) for score in found)
    assert ranked(found, goal)[0] == top


# The others


@given(st.lists(numbers, min_size=1, max_size=12), st.integers(1, 4), st.sampled_from(["min", "max"]), st.data())
def test_what_may_go_is_neither_among_the_best_nor_the_last_nor_without_a_score(
    values: list[float], keep: int, goal: str, data: st.DataObject
) -> None:
    everyone = scores(*values)
    evaluated = [score for score in everyone if data.draw(st.booleans())]
    unfinished = {score.at.path for score in everyone if data.draw(st.booleans())}
    gone = superfluous([score.at for score in everyone], evaluated, goal, keep, unfinished)
    assert set(gone) <= set(evaluated)
    assert not {score.at.path for score in gone} & unfinished
    assert everyone[-1] not in gone
    left = [score for score in evaluated if score not in gone]
    assert len(left) >= min(keep, len(evaluated))
    assert not any(is_better(bad.value, good.value, goal) for bad in gone for good in ranked(evaluated, goal)[:keep])


def test_the_last_found_stays_even_when_its_step_is_not_the_largest() -> None:
    first, second, third = scores(3.0, 2.0, 1.0)
    late = first._replace(at=first.at._replace(found=99.0), value=0.0)
    assert superfluous([late.at, second.at, third.at], [late, second, third], "max", 1, ()) == []


def test_one_path_with_two_contents_stays_when_one_of_them_is_among_the_best() -> None:
    first, second, third = scores(3.0, 2.0, 1.0)
    same = second._replace(at=second.at._replace(path=first.at.path))
    assert superfluous([first.at, same.at, third.at], [first, same, third], "max", 1, ()) == []


# No gain


def test_it_stalls_after_so_many_checkpoints_without_gain_in_the_order_of_the_training() -> None:
    found = scores(0.1, 0.5, 0.4, 0.5, 0.3)
    stall = stalled(list(reversed(found)), "max", 3, 0.0)
    assert stall is not None and (stall.best, stall.last, stall.evaluations) == (found[1], found[4], 3)
    assert stalled(found, "max", 4, 0.0) is None
    assert stalled([], "max", 1, 0.0) is None


def test_a_gain_below_the_least_is_none() -> None:
    rising = scores(0.1, 0.11, 0.12, 0.13)
    assert stalled(rising, "max", 3, 0.05) is not None
    assert stalled(rising, "max", 1, 0.0) is None
    assert stalled(scores(3.0, 2.0, 1.0), "min", 1, 0.5) is None


def test_nan_is_no_gain_and_a_number_after_it_is() -> None:
    assert stalled(scores(0.5, math.nan, math.nan), "max", 2, 0.0) is not None
    assert stalled(scores(math.nan, math.nan, 0.5), "max", 1, 0.0) is None


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=20), st.integers(1, 5))
def test_a_metric_that_always_improves_never_stalls(values: list[float], patience: int) -> None:
    assert stalled(scores(*sorted(set(values))), "max", patience, 0.0) is None

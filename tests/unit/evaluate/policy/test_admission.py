"""Which checkpoints are evaluated, and which give way to newer ones."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from paddock.evaluate.policy.admission import COALESCED, EVERY, admit, left_out
from paddock.evaluate.policy.standing import Standing


def at(*steps: int) -> list[Standing]:
    return [Standing(f"k{step}", step, f"out/{step}.pt") for step in steps]


def keys(standings: list[Standing]) -> list[str]:
    return [one.key for one in standings]


def test_each_third_is_evaluated_and_the_others_say_why_not() -> None:
    found = admit(at(30, 10, 20, 50, 40, 60), 0, [], 3, 0)
    assert keys(found.submit) == ["k30", "k60"]
    assert set(found.skip) == {"k10", "k20", "k40", "k50"}
    assert found.skip["k10"].startswith(EVERY) and "number 1" in found.skip["k10"]


@given(st.lists(st.integers(0, 1000), unique=True, max_size=30), st.integers(1, 5), st.data())
def test_it_makes_no_difference_how_many_looks_it_takes_to_see_them(
    steps: list[int], every: int, data: st.DataObject
) -> None:
    steps.sort()
    cut = data.draw(st.integers(0, len(steps)))
    first = admit(at(*steps[:cut]), 0, [], every, 0)
    second = admit(at(*steps[cut:]), cut, [], every, 0)
    assert keys(first.submit) + keys(second.submit) == keys(admit(at(*steps), 0, [], every, 0).submit)


def test_the_last_one_counts_when_the_training_is_over_if_only_its_number_was_wrong() -> None:
    one, two = at(10, 20)
    assert left_out([(two, f"{EVERY}: number 2"), (one, "")]) == two
    assert left_out([(two, ""), (one, f"{EVERY}: number 1")]) is None
    assert left_out([(two, "it was there before")]) is None
    assert left_out([]) is None


def test_the_oldest_that_wait_give_way_to_the_newest() -> None:
    found = admit(at(40), 3, at(10, 20, 30), 1, 2)
    assert keys(found.submit) == ["k40"]
    assert set(found.withdraw) == {"k10", "k20"}
    assert found.withdraw["k10"].startswith(COALESCED) and "step 40" in found.withdraw["k10"]


def test_an_older_one_that_comes_late_gives_way_itself() -> None:
    found = admit(at(15), 2, at(20, 30), 1, 2)
    assert (found.submit, set(found.skip), found.withdraw) == ([], {"k15"}, {})


@given(
    st.lists(st.integers(0, 100), unique=True, max_size=12),
    st.lists(st.integers(101, 200), unique=True, max_size=12),
    st.integers(1, 4),
)
def test_the_newest_is_never_passed_over_and_no_more_than_allowed_wait(
    waiting: list[int], coming: list[int], most: int
) -> None:
    found = admit(at(*coming), len(waiting), at(*waiting), 1, most)
    left = {f"k{step}" for step in waiting} - set(found.withdraw) | set(keys(found.submit))
    everyone = sorted([*waiting, *coming])
    assert left == {f"k{step}" for step in everyone[-most:]}
    assert left | set(found.withdraw) | set(found.skip) == {f"k{step}" for step in everyone}

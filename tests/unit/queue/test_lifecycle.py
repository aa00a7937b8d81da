"""Names, orders and dependencies of tasks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.queue import lifecycle
from paddock.queue.lifecycle import (
    ACTIVE,
    DONE,
    FAILED,
    PAUSED,
    QUEUED,
    STATES,
    Order,
    Place,
    Token,
    ended,
    is_free,
    judge,
    order,
    place,
    settle,
)
from paddock.queue.task import Attempt, Dependency, Task, TaskFile

MINE, OTHER = Token("node1-7-ab", 2), Token("node2-9-cd", 3)
ids = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,20}", fullmatch=True).filter(
    lambda i: not i.endswith((".tmp", ".swp"))
)
tokens = st.none() | st.builds(Token, st.from_regex(r"[a-z0-9-]{1,10}", fullmatch=True), st.integers(0, 999))


@given(st.builds(Place, st.sampled_from(STATES), ids, st.integers(-999, 999), tokens))
def test_a_name_says_all_of_a_place(at: Place) -> None:
    assert place(at.state, at.name) == at


@pytest.mark.parametrize(
    "name", ["notes txt", ".hidden", "x~", "x.tmp", "x.swp", "", "a/b", "x@high", "x~w", "x~w.1.2"]
)
def test_other_files_are_no_tasks(name: str) -> None:
    assert place(QUEUED, name) is None


def test_higher_priority_first_then_the_older() -> None:
    names = ["20261102-x", "20261101-y@-1", "20261103-z@5", "20261101-a"]
    found = [p for n in names if (p := place(QUEUED, n))]
    assert [p.id for p in order(found)] == ["20261103-z", "20261101-a", "20261102-x", "20261101-y"]


def test_a_queued_file_with_a_token_is_not_free_yet() -> None:
    assert is_free(Place(QUEUED, "x"))
    assert not is_free(Place(QUEUED, "x", 0, OTHER))
    assert not is_free(Place(PAUSED, "x"))


def test_what_is_over_loses_its_token_and_its_priority() -> None:
    at = Place(ACTIVE, "x", 5, MINE)
    assert ended(at, DONE).path == "done/x"
    assert ended(at, QUEUED).path == "queued/x@5"


@pytest.mark.parametrize(
    ("found", "stopped", "sure", "misses", "expected"),
    [
        ([Place(ACTIVE, "x", 0, MINE)], False, True, 0, Order.KEEP),
        ([Place(ACTIVE, "x", 0, MINE)], True, True, 0, Order.CONTINUE),
        ([Place(PAUSED, "x", 0, MINE)], False, True, 0, Order.STOP),
        ([Place(PAUSED, "x", 0, MINE)], True, True, 0, Order.KEEP),
        ([Place(QUEUED, "x", 0, MINE)], False, True, 0, Order.KILL),
        ([Place(FAILED, "x", 0, MINE)], True, True, 0, Order.KILL),
        ([Place(DONE, "x", 0, MINE)], False, True, 0, Order.KILL),
        ([], False, True, 0, Order.KEEP),  # one clean listing is not enough
        ([], False, True, 1, Order.DROP),
        ([], False, False, 9, Order.KEEP),  # the disk is away, the task is not
        ([Place(ACTIVE, "x", 0, OTHER)], False, True, 1, Order.DROP),
        ([Place(QUEUED, "x")], False, True, 1, Order.DROP),
    ],
)
def test_a_worker_does_what_the_directories_say(
    found: list[Place], stopped: bool, sure: bool, misses: int, expected: Order
) -> None:
    assert judge(MINE, found, stopped=stopped, sure=sure, misses=misses) is expected


@pytest.mark.parametrize(
    ("after", "ready", "doomed"),
    [
        ([], True, ""),
        (["success:done"], True, ""),
        (["success:queued"], False, ""),
        (["success:failed"], False, "failed failed"),
        (["failure:failed"], True, ""),
        (["failure:done"], False, "done succeeded"),
        (["any:failed", "any:done"], True, ""),
        (["any:active", "success:done"], False, ""),
        (["success:nothing"], False, "nothing does not exist"),
        (["success:queued", "success:failed"], False, "failed failed"),
    ],
)
def test_dependencies(after: list[str], ready: bool, doomed: str) -> None:
    states = {state: state for state in STATES}
    wanted = [Dependency(task, when) for when, task in (item.split(":") for item in after)]
    assert settle(wanted, states) == (ready, doomed)


def test_there_is_room_between_the_fence_and_the_reclaim() -> None:
    assert lifecycle.Liveness().safe
    assert not lifecycle.Liveness(10, 120, 150).safe
    assert not lifecycle.Liveness(10, 5, 300).safe


def _file(*outcomes: str, retries: int = 0) -> TaskFile:
    attempts = tuple(Attempt(number=number, outcome=outcome) for number, outcome in enumerate(outcomes, 1))
    return TaskFile(Task(id="t", command="x", retries=retries), "", attempts)


def test_an_attempt_that_had_noted_its_end_is_believed_and_any_other_is_lost() -> None:
    for outcome, state in {"done": "done", "failed": "failed", "requeued": "queued", "lost": "queued"}.items():
        assert lifecycle.inherited("active", _file(outcome), Token("w", 1)) == (state, None)
    assert lifecycle.inherited("active", _file("failed", retries=1), Token("w", 1)).state == "queued"
    assert lifecycle.inherited("active", _file("failed", "failed", retries=1), Token("w", 2)).state == "failed"
    for noted in ((), ("started",), ("done",)):  # of this attempt nothing is known
        state, note = lifecycle.inherited("active", _file(*noted), Token("w", 2))
        assert state == "queued" and note is not None
        assert (note.number, note.worker, note.outcome) == (2, "w", "lost")


def test_who_was_lost_too_often_is_given_to_nobody_and_a_check_costs_nothing() -> None:
    assert lifecycle.inherited("active", _file(*["lost"] * 4), Token("w", 5)).state == "failed"
    assert lifecycle.inherited("active", _file(*["lost"] * 5), Token("w", 5)) == ("failed", None)
    assert lifecycle.inherited("checking", _file(), Token("w", 1)) == ("queued", None)
    assert lifecycle.inherited("paused", _file(), Token("w", 1)).state == "paused"
    state, note = lifecycle.inherited("done", _file(), Token("w", 1))  # a person has put it there
    assert state == "done" and note is not None and note.outcome == "killed"

"""What becomes of tasks that wait for others."""

from __future__ import annotations

from paddock.queue.task import Dependency
from paddock.work.launch.verdicts import judge

ON_A = (Dependency("a"),)


def test_what_waits_for_nothing_starts() -> None:
    found = judge([("b", ()), ("c", ON_A)], {"a": "done", "b": "queued", "c": "queued"}, set(), holds_back=True)
    assert (found.start, found.hold, found.doomed) == (["b", "c"], [], {})


def test_what_waits_for_what_will_never_happen_is_doomed_on_every_engine() -> None:
    for holds_back in (True, False):
        for states in ({"a": "failed"}, {}):
            found = judge([("b", ON_A)], states, set(), holds_back=holds_back)
            assert (found.start, found.hold) == ([], [])
            assert "a" in found.doomed["b"]
    assert judge([("b", (Dependency("a", "failure"),))], {"a": "failed"}, set(), holds_back=True).start == ["b"]


def test_a_child_gets_its_job_with_that_of_its_parent_also_over_generations() -> None:
    states = dict.fromkeys("abcd", "queued")
    tasks = [("d", (Dependency("c"),)), ("c", (Dependency("b"),)), ("b", ON_A), ("a", ())]
    assert judge(tasks, states, set(), holds_back=True).start == ["d", "c", "b", "a"]
    assert judge(tasks[:3], states, {"a"}, holds_back=True).start == ["d", "c", "b"]


def test_a_child_whose_parent_has_no_job_is_held_where_the_engine_could_hold_its_job_back() -> None:
    states = {"a": "paused", "b": "queued"}
    assert judge([("b", ON_A)], states, set(), holds_back=True).hold == ["b"]
    assert judge([("b", ON_A)], states, set(), holds_back=False).start == ["b"]


def test_tasks_that_wait_for_each_other_are_held() -> None:
    tasks = [("a", (Dependency("b"),)), ("b", ON_A)]
    assert judge(tasks, dict.fromkeys("ab", "queued"), set(), holds_back=True).hold == ["a", "b"]

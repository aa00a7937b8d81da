"""Which run a process belongs to."""

from __future__ import annotations

from typing import Any

import pytest

from paddock.errors import UsageError
from paddock.track.identity import Identity, decide, next_attempt


def choose(environ: dict[str, str] | None = None, **given: Any) -> Identity:
    defaults: dict[str, Any] = {
        "run_id": None,
        "resume": None,
        "parent": None,
        "shared": False,
        "rank": None,
        "joined_before": False,
        "pid": "here:1",
    }
    return decide(environ or {}, **{**defaults, **given})


TASK = {"PADDOCK_RUN_ID": "task1", "PADDOCK_RUN_HOME": "/h", "PADDOCK_ATTEMPT": "3"}
CHILD = {**TASK, "PADDOCK_RUN_OWNER": "here:0"}


def test_alone_it_is_a_new_run() -> None:
    found = choose()
    assert (found.run_id, found.role, found.join) == (None, "main", False)


def test_a_task_joins_the_run_it_was_started_for_as_its_main_process() -> None:
    found = choose(TASK)
    assert (found.run_id, found.home, found.role, found.join, found.attempt) == ("task1", "/h", "main", True, 3)


def test_a_child_of_a_tracked_process_joins_as_a_child() -> None:
    assert choose(CHILD).role == "child"
    assert choose(CHILD, pid="here:0").role == "main"


def test_a_second_run_in_a_task_is_a_child_run_of_its_own() -> None:
    for found in (
        choose(TASK, joined_before=True),
        choose(TASK, resume="never"),
        choose(TASK, run_id="other"),
    ):
        assert found.run_id != "task1"
        assert found.parent == "task1"


def test_ranks_agree_on_an_id_and_launches_differ() -> None:
    first = [choose(rank=(n, 4, "job 1")) for n in range(4)]
    assert len({found.run_id for found in first}) == 1
    assert all(found.join for found in first)
    assert choose(rank=(0, 4, "job 2")).run_id != first[0].run_id


def test_ranks_above_zero_join_an_id_that_rank_zero_made() -> None:
    assert not choose(run_id="x", rank=(0, 2, "k")).join
    assert choose(run_id="x", rank=(1, 2, "k")).join


def test_a_requeued_slurm_job_is_the_same_run() -> None:
    environ = {"SLURM_JOB_ID": "17"}
    assert choose(environ, resume="auto").run_id == choose(environ, resume=True).run_id is not None
    assert choose({**environ, "SLURM_ARRAY_TASK_ID": "1"}, resume=True).run_id != choose(environ, resume=True).run_id


def test_an_id_from_the_environment_is_checked_too() -> None:
    with pytest.raises(UsageError, match="cannot be a run's id"):
        choose({"PADDOCK_RUN_ID": "../../etc"})


AGAIN = {"PADDOCK_REPRODUCTION": "k7f3"}


def test_a_script_that_is_repeated_gets_another_id_than_it_names() -> None:
    assert choose(AGAIN, run_id="fixed").run_id == "fixed-k7f3"
    assert choose(AGAIN).run_id is None
    assert choose(AGAIN, run_id="x" * 128).run_id == "x" * 123 + "-k7f3"
    must = choose(AGAIN, run_id="fixed", resume="must")
    assert (must.run_id, must.resume) == ("fixed-k7f3", "allow")
    assert choose({**AGAIN, "SLURM_JOB_ID": "17"}, resume="auto").run_id is None


def test_processes_of_a_repeated_script_join_its_new_run() -> None:
    environ = {**AGAIN, **CHILD, "PADDOCK_RUN_ID": "fixed-k7f3"}
    for said in ("fixed", "fixed-k7f3", None):
        found = choose(environ, run_id=said)
        assert (found.run_id, found.role, found.join) == ("fixed-k7f3", "child", True)


def test_processes_that_share_a_run_share_the_attempt() -> None:
    assert choose(run_id="x", shared=True).join
    assert next_attempt([], None, shared=True) == 1
    assert next_attempt([{"role": "main", "attempt": 2}], None, shared=True) == 2


@pytest.mark.parametrize(
    ("headers", "rank", "expected"),
    [
        ([], None, 1),
        ([{"role": "main", "attempt": 1}], None, 2),
        ([{"role": "main", "attempt": 1}, {"role": "annotation", "attempt": 9}], None, 2),
        ([{"role": "main", "attempt": 1, "rank": 0}, {"role": "main", "attempt": 2, "rank": 0}], 1, 1),
        ([{"role": "main", "attempt": 1, "rank": 1}, {"role": "main", "attempt": 2, "rank": 0}], 1, 2),
    ],
)
def test_attempts_are_counted_for_each_rank(headers: list[dict[str, Any]], rank: int | None, expected: int) -> None:
    assert next_attempt(headers, rank) == expected

"""Which tasks of an engine's queue need a job, and which jobs nobody needs."""

from __future__ import annotations

from paddock.queue.lifecycle import ACTIVE, CHECKING, DONE, FAILED, PAUSED, QUEUED, Place, Token
from paddock.work.launch.plan import MOST_IN_VAIN, plan
from paddock.work.launcher import Job, JobState

WORKER = Token("node1-17-aa", 1)


def job(task: str, state: JobState) -> dict[str, list[Job]]:
    return {task: [Job(task, "4711", state)]}


def test_what_waits_without_a_job_gets_one_the_most_urgent_first() -> None:
    places = [Place(QUEUED, "a"), Place(QUEUED, "b", 5), Place(DONE, "c"), Place(FAILED, "d"), Place(PAUSED, "e")]
    assert plan(places, {}, set(), {}).launch == ["b", "a"]


def test_a_job_that_may_run_is_the_only_one() -> None:
    for state in (JobState.PENDING, JobState.RUNNING, JobState.UNKNOWN):
        assert plan([Place(QUEUED, "a")], job("a", state), set(), {}).launch == []
    assert plan([Place(QUEUED, "a")], job("a", JobState.ENDED), set(), {}).launch == ["a"]


def test_a_task_of_a_worker_that_lives_needs_nothing_and_one_of_a_dead_one_a_job() -> None:
    for state in (ACTIVE, CHECKING):
        held = [Place(state, "a", 0, WORKER)]
        assert plan(held, {}, {WORKER.worker}, {}).launch == []
        assert plan(held, {}, set(), {}).launch == ["a"]
        assert plan(held, job("a", JobState.UNKNOWN), set(), {}).launch == []


def test_jobs_that_end_in_vain_again_and_again_are_not_started_for_ever() -> None:
    assert plan([Place(QUEUED, "a")], {}, set(), {"a": MOST_IN_VAIN - 1}).launch == ["a"]
    found = plan([Place(QUEUED, "a")], {}, set(), {"a": MOST_IN_VAIN})
    assert (found.launch, found.stuck) == ([], ["a"])


def test_a_waiting_job_whose_task_is_over_paused_or_gone_is_ended_and_a_running_one_sees_for_itself() -> None:
    waiting = job("a", JobState.PENDING)
    for places in ([], [Place(DONE, "a")], [Place(FAILED, "a")], [Place(PAUSED, "a")]):
        assert plan(places, waiting, set(), {}).end == waiting["a"]
        for state in (JobState.RUNNING, JobState.UNKNOWN, JobState.ENDED):
            assert plan(places, job("a", state), set(), {}).end == []
    assert plan([Place(QUEUED, "a")], waiting, set(), {}).end == []


def test_the_job_of_a_task_that_was_paused_while_it_ran_is_left_though_its_engine_says_that_it_waits() -> None:
    """A kubelet says a second later what it began; the task is stopped in it, and goes on from there."""
    waiting = job("a", JobState.PENDING)
    assert plan([Place(PAUSED, "a", 0, WORKER)], waiting, {WORKER.worker}, {}).end == []

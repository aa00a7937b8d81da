"""How many workers a queue needs on an engine."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from paddock.work.launch.scaling import decide
from paddock.work.launcher import JobState, Pilot

STATES = st.sampled_from(JobState)


def pilots(*states: JobState) -> list[Pilot]:
    return [Pilot(str(number), state) for number, state in enumerate(states)]


def test_as_many_are_started_as_there_are_tasks_but_not_more_than_the_most() -> None:
    assert decide(3, [], least=0, most=10).start == 3
    assert decide(30, [], least=0, most=10).start == 10
    assert decide(30, [], least=0, most=10, slots=4).start == 8
    assert decide(0, [], least=0, most=10) == (0, 0, ())


def test_those_that_stay_are_started_as_such() -> None:
    assert decide(0, [], least=2, most=10)[:2] == (0, 2)
    assert decide(5, [], least=2, most=10)[:2] == (3, 2)
    assert decide(5, pilots(JobState.RUNNING, JobState.RUNNING), least=2, most=10)[:2] == (3, 0)


def test_the_newest_that_wait_are_taken_back_and_none_that_runs() -> None:
    there = pilots(JobState.RUNNING, JobState.PENDING, JobState.PENDING, JobState.UNKNOWN)
    assert [pilot.id for pilot in decide(3, there, least=0, most=10).end] == ["2"]
    assert [pilot.id for pilot in decide(0, there, least=0, most=10).end] == ["1", "2"]
    assert decide(0, pilots(JobState.RUNNING, JobState.RUNNING), least=0, most=10).end == ()


@given(st.integers(0, 50), st.lists(STATES, max_size=20), st.integers(0, 5), st.integers(0, 20), st.integers(1, 4))
def test_never_more_than_the_most_nor_less_than_the_least(
    tasks: int, states: list[JobState], least: int, more: int, slots: int
) -> None:
    most = least + more
    there = pilots(*states)
    found = decide(tasks, there, least=least, most=most, slots=slots)
    alive = sum(state.may_run for state in states)
    after = alive + found.start + found.start_lasting - len(found.end)
    assert after <= max(most, alive) and after >= least
    assert not (found.end and (found.start or found.start_lasting))
    assert all(pilot.state is JobState.PENDING for pilot in found.end)

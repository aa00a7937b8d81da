"""How many workers a queue needs on an engine."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.queue.directory import DirectoryQueue, find_queue
from paddock.queue.lifecycle import ACTIVE, PAUSED, Token
from paddock.queue.task import Dependency, Task
from paddock.record.layout import Home
from paddock.work.launch.scaling import MOST_READ, MOST_SECONDS, Need, Patience, decide, need, room
from paddock.work.launcher import JobState, Pilot
from paddock.work.slots import Slots

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


@pytest.fixture
def queue(home: Home) -> DirectoryQueue:
    found = find_queue("q", home)
    found.prepare()
    return found


def put(queue: DirectoryQueue, *tasks: Task) -> None:
    queue.put(tasks)


def needed(queue: DirectoryQueue, each: Slots, most: int = 10) -> Need:
    return need(queue, queue.list().places, each, most)


def task(id: str, after: Sequence[str] = (), **about: int) -> Task:
    return Task(id=id, command="true", after=tuple(Dependency(one) for one in after), **about)


ONE = Slots(1, ("0",))


def test_a_task_of_several_ranks_needs_a_slot_for_each(queue: DirectoryQueue) -> None:
    put(queue, task("a", workers=4), task("b"))
    assert needed(queue, ONE) == Need(5, 0)
    assert decide(needed(queue, ONE).slots, [], least=0, most=10).start == 5


def test_nothing_is_started_for_what_no_pilot_could_ever_run(queue: DirectoryQueue) -> None:
    """Each would leave at once, and the next look would start another, for ever."""
    put(queue, task("a", gpus=2), task("b", cpus=9), task("c", mem=1 << 40), task("d", workers=11), task("e", gpus=1))
    assert needed(queue, Slots(1, ("0",), 8, 1 << 30)) == Need(1, 4)
    assert needed(queue, Slots(1, ("0",))) == Need(3, 2)  # nobody has said how many cores and how much memory it has


def test_what_waits_for_others_needs_no_pilot_yet(queue: DirectoryQueue) -> None:
    put(queue, task("a"), task("b", ["a"]), task("c", ["b"]), task("d", ["gone"]))
    assert needed(queue, ONE) == Need(2, 0)
    (place,) = [place for place in queue.list().places if place.id == "a"]
    held = queue.claim(place, Token("w-1-abcdef", 1))
    assert held is not None
    assert needed(queue, ONE) == Need(2, 0)
    assert queue.move(held, held._replace(state=PAUSED))
    assert needed(queue, ONE) == Need(1, 0)  # nobody knows when it goes on


def test_what_somebody_larger_runs_is_no_trouble(queue: DirectoryQueue) -> None:
    put(queue, task("a", gpus=8))
    (place,) = queue.list().places
    assert queue.claim(place, Token("w-1-abcdef", 1), ACTIVE)
    assert needed(queue, ONE) == Need(0, 0)


def test_of_many_tasks_no_more_are_read_than_there_may_be_pilots(queue: DirectoryQueue) -> None:
    put(queue, *(task(f"t{number:04}") for number in range(20)))
    assert needed(queue, ONE, most=7) == Need(7, 0)
    put(queue, *(task(f"u{number:04}", ["t0000"]) for number in range(MOST_READ)))
    assert needed(queue, ONE, most=2000).slots == 20 + 20, "behind those that are read each counts"


def test_a_pilot_whose_gpus_are_told_in_the_engines_own_words_may_have_any(queue: DirectoryQueue) -> None:
    put(queue, task("a", gpus=2))
    assert needed(queue, room(task("pilot"), 1, ["account"])) == Need(0, 1)
    assert needed(queue, room(task("pilot"), 1, ["gres", "account"])) == Need(1, 0)
    assert needed(queue, room(task("pilot", gpus=1), 1, ["gres"])) == Need(0, 1)
    assert room(task("pilot", cpus=4, mem=5), 2, []) == Slots(2, (), 4, 5)


def test_while_workers_fail_one_after_the_other_there_is_ever_more_time_between_them() -> None:
    patience, ended = Patience(15.0), [Pilot("0", JobState.ENDED, failed=True)]
    patience.see(ended)
    assert patience.seconds == 15.0, "it failed before we came"
    for number in range(1, 4):
        ended.append(Pilot(str(number), JobState.ENDED, failed=True))
        patience.see(ended)
    assert patience.seconds == 120.0
    patience.see(ended)
    assert patience.seconds == 120.0, "nothing new was started meanwhile"
    patience.see([*ended, Pilot("4", JobState.RUNNING)])
    assert patience.seconds == 15.0
    for number in range(10, 30):
        ended.append(Pilot(str(number), JobState.ENDED, failed=True))
        patience.see(ended)
    assert patience.seconds == MOST_SECONDS

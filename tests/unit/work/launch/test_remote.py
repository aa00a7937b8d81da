"""What became of a task that was handed over, by what its job left behind; and what is handed over."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from paddock.queue.directory import DirectoryQueue
from paddock.queue.lifecycle import ACTIVE, QUEUED, Place, Token
from paddock.queue.order.orders import CANCEL, carry_out, find
from paddock.queue.task import Attempt, Dependency, Task, TaskFile, read
from paddock.work.launch.remote import carried, judge
from paddock.work.launch.tending import tend
from paddock.work.launcher import Capabilities, Job, JobState, Launched, Parcel

TOKEN = Token("k8s-3f2a", 1)
GIVEN_BACK = '{"state": "queued", "attempts": [{"number": 1, "outcome": "requeued", "exit": "", "tail": "hello"}]}'
SAID = '{"state": "done", "attempts": [{"number": 1, "outcome": "done", "exit": "exit code 0", "tail": "hello"}]}'


def task(name: str = "t1", **about: Any) -> Task:
    return Task(**{"id": name, "command": "true", **about})


def ended(exit: int | None, about: str = "", said: str = "") -> Job:
    return Job("t1", "job", JobState.ENDED, about, "n1", claim=str(TOKEN), exit=exit, said=said)


@pytest.mark.parametrize(
    ("job", "outcome", "state"),
    [
        (ended(0, said=SAID), "done", "done"),
        (ended(0), "done", "done"),
        (ended(10, "exit code 10", "no JSON"), "failed", "failed"),
        (ended(75, "exit code 75"), "requeued", "queued"),
        (ended(None, "DeadlineExceeded: it took longer than its time"), "timed out", "failed"),
        (ended(75, "DeadlineExceeded: it took longer than its time", GIVEN_BACK), "timed out", "failed"),
        (ended(75, "exit code 75", GIVEN_BACK), "requeued", "queued"),
        (ended(None, "it did not start within its time: ErrImagePull"), "lost", "queued"),
        (ended(137, "exit code 137 (OOMKilled)"), "lost", "queued"),
        (ended(None, "BackoffLimitExceeded"), "lost", "queued"),
        (None, "lost", "queued"),
    ],
)
def test_where_a_task_goes_after_its_job(job: Job | None, outcome: str, state: str) -> None:
    found = judge(TaskFile(task(), "f"), Place(ACTIVE, "t1", 0, TOKEN), job)
    assert ([note.outcome for note in found.notes], found.state) == ([outcome], state)


def test_our_own_retries_are_counted() -> None:
    failed = Attempt(number=1, outcome="failed")
    place = Place(ACTIVE, "t1", 0, TOKEN)
    assert judge(TaskFile(task(retries=2), "f", (failed,)), place, ended(10)).state == "queued"
    assert judge(TaskFile(task(retries=2), "f", (failed, failed)), place, ended(10)).state == "failed"


def test_a_task_that_is_lost_again_and_again_fails() -> None:
    lost = tuple(Attempt(number=number, outcome="lost") for number in range(1, 5))
    assert judge(TaskFile(task(), "f", lost), Place(ACTIVE, "t1", 0, TOKEN), None).state == "failed"


def test_what_is_carried_waits_for_nothing_and_knows_its_attempts() -> None:
    given = TaskFile(
        task(check="test -f x", after=(Dependency("t0"),), cwd="/here", command="echo '==== attempt'"),
        "f",
        (Attempt(number=1, outcome="lost", tail="==== command"),),
    )
    found = read(carried(given), "t1")
    assert (found.task.check, found.task.after, found.task.cwd) == ("", (), "")
    assert (found.task.command, found.attempts) == (given.task.command, given.attempts)


@dataclass
class Pods:
    """An engine that is a list: its jobs do what the test says."""

    jobs: dict[str, Job] = field(default_factory=dict)
    refuses: bool = False
    capabilities = Capabilities(False, True, True, False, shared_disk=False)

    def look(self, queue: DirectoryQueue) -> dict[str, list[Job]]:
        found: dict[str, list[Job]] = {}
        for job in self.jobs.values():
            found.setdefault(job.task, []).append(job)
        return found

    def launch(self, queue: DirectoryQueue, tasks: Any) -> list[Launched]:
        raise AssertionError("its jobs see no disk")

    def carry(self, queue: DirectoryQueue, parcels: list[Parcel]) -> list[Launched]:
        if self.refuses:
            return [Launched(one.task.id, trouble="no") for one in parcels]
        for one in parcels:
            self.jobs[one.task.id] = Job(one.task.id, f"job-{one.task.id}", JobState.PENDING, claim=one.claim)
        return [Launched(one.task.id, f"job-{one.task.id}") for one in parcels]

    def end(self, queue: DirectoryQueue, jobs: list[Job]) -> None:
        for job in jobs:
            del self.jobs[job.task]

    def becomes(self, task: str, state: JobState, **more: Any) -> None:
        self.jobs[task] = self.jobs[task]._replace(state=state, **more)


@pytest.fixture
def queue(tmp_path: Path) -> DirectoryQueue:
    made = DirectoryQueue(tmp_path / "k8s")
    made.prepare()
    return made


def state(queue: DirectoryQueue, task: str) -> str:
    found = find(queue, task)
    return found.state if found is not None else "gone"


def test_a_task_is_queued_until_its_job_runs_and_is_put_away_when_that_has_ended(queue: DirectoryQueue) -> None:
    pods = Pods()
    queue.put([task()])
    tend(queue, pods, "k8s")
    assert state(queue, "t1") == QUEUED
    tend(queue, pods, "k8s")
    assert list(pods.jobs) == ["t1"]  # it is not handed over twice
    pods.becomes("t1", JobState.RUNNING)
    tend(queue, pods, "k8s")
    assert state(queue, "t1") == ACTIVE
    pods.becomes("t1", JobState.UNKNOWN)
    tend(queue, pods, "k8s")
    assert state(queue, "t1") == ACTIVE  # nobody knows: it stays
    pods.becomes("t1", JobState.ENDED, exit=0, said=SAID)
    tend(queue, pods, "k8s")
    place = find(queue, "t1")
    assert place is not None and (place.state, place.token) == ("done", None)
    assert [attempt.tail for attempt in queue.read(place).attempts] == ["hello"]


def test_what_the_engine_refuses_stays_queued_and_free(queue: DirectoryQueue) -> None:
    queue.put([task()])
    found = tend(queue, Pods(refuses=True), "k8s")
    assert [one.trouble for one in found.launched] == ["no"]
    assert find(queue, "t1") == Place(QUEUED, "t1")


def test_a_job_that_is_gone_is_lost_and_another_is_started(queue: DirectoryQueue) -> None:
    pods = Pods()
    queue.put([task()])
    tend(queue, pods, "k8s")
    pods.becomes("t1", JobState.RUNNING)
    tend(queue, pods, "k8s")
    first = pods.jobs.pop("t1")
    tend(queue, pods, "k8s")
    assert pods.jobs["t1"].claim != first.claim
    place = find(queue, "t1")
    assert place is not None
    assert [attempt.outcome for attempt in queue.read(place).attempts] == ["lost"]


@pytest.mark.parametrize("seen", [("pod-1", "pod-1", "pod-2"), ("pod-1",)], ids=["seen to run", "seen when over"])
def test_what_the_engine_begins_anew_by_itself_is_an_attempt_too(queue: DirectoryQueue, seen: tuple[str, ...]) -> None:
    pods = Pods()
    queue.put([task()])
    tend(queue, pods, "k8s")
    for name in seen:
        pods.becomes("t1", JobState.RUNNING, try_=name)
        tend(queue, pods, "k8s")
    pods.becomes("t1", JobState.ENDED, exit=0, said=SAID, try_="pod-2")
    tend(queue, pods, "k8s")
    place = find(queue, "t1")
    assert place is not None
    found = queue.read(place).attempts
    assert [(one.number, one.outcome, one.worker) for one in found] == [(1, "lost", "pod-1"), (2, "done", "")]


def test_a_job_that_is_begun_anew_again_and_again_is_ended(queue: DirectoryQueue) -> None:
    pods = Pods()
    queue.put([task()])
    tend(queue, pods, "k8s")
    for number in range(6):
        pods.becomes("t1", JobState.RUNNING, try_=f"pod-{number}")
        tend(queue, pods, "k8s")
    tend(queue, pods, "k8s")
    assert (find(queue, "t1"), pods.jobs) == (Place("failed", "t1"), {})


def test_cancel_ends_the_job_and_then_the_file_is_gone(queue: DirectoryQueue) -> None:
    pods = Pods()
    queue.put([task()])
    tend(queue, pods, "k8s")
    place = find(queue, "t1")
    assert place is not None
    carry_out(queue, CANCEL, place)
    tend(queue, pods, "k8s")
    assert (pods.jobs, queue.list([".cancelled"]).places) == ({}, [])


def test_a_file_that_was_removed_ends_its_job(queue: DirectoryQueue) -> None:
    pods = Pods()
    queue.put([task()])
    tend(queue, pods, "k8s")
    place = find(queue, "t1")
    assert place is not None
    queue.file(place).unlink()
    tend(queue, pods, "k8s")
    assert pods.jobs == {}


def test_a_task_waits_for_another_here_and_takes_no_room(queue: DirectoryQueue) -> None:
    pods = Pods()
    queue.put([task(), task("t2", after=(Dependency("t1"),)), task("t3", after=(Dependency("t1", "failure"),))])
    tend(queue, pods, "k8s")
    assert list(pods.jobs) == ["t1"]
    pods.becomes("t1", JobState.ENDED, exit=0)
    tend(queue, pods, "k8s")
    assert state(queue, "t2") == QUEUED and "t2" in pods.jobs
    assert state(queue, "t3") == "failed"

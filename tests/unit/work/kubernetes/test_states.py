"""A Job and its pods, as the server shows them, and what we say of them."""

from __future__ import annotations

from typing import Any

import pytest

from paddock.work.kubernetes.states import jobs
from paddock.work.launcher import JobState


def job(status: dict[str, Any] | None = None, **about: Any) -> dict[str, Any]:
    metadata = {
        "name": "t1-ab12",
        "uid": "u1",
        "annotations": {"paddock.dev/task": "t1", "paddock.dev/claim": "k8s-1.1"},
        **about.pop("metadata", {}),
    }
    return {"kind": "Job", "metadata": metadata, "status": status or {}, **about}


def pod(phase: str, node: str = "n1", **status: Any) -> dict[str, Any]:
    return {
        "kind": "Pod",
        "metadata": {"name": "p", "ownerReferences": [{"kind": "Job", "uid": "u1"}]},
        "spec": {"nodeName": node} if node else {},
        "status": {"phase": phase, **status},
    }


def waiting(reason: str, message: str = "") -> dict[str, Any]:
    return pod(
        "Pending", containerStatuses=[{"name": "task", "state": {"waiting": {"reason": reason, "message": message}}}]
    )


def condition(kind: str, **more: Any) -> dict[str, Any]:
    return {"conditions": [{"type": kind, "status": "True", **more}]}


def ended(code: int, **more: Any) -> dict[str, Any]:
    state = {"terminated": {"exitCode": code, **more}}
    return pod("Succeeded" if code == 0 else "Failed", containerStatuses=[{"name": "task", "state": state}])


def overdue(state: dict[str, Any] | None) -> dict[str, Any]:
    """A pod whose own time is over, as a kubelet says it: at once, also while its container has its grace."""
    containers = {"containerStatuses": [{"name": "task", "state": state}]} if state is not None else {}
    return pod("Failed", reason="DeadlineExceeded", message="Pod was active on the node too long", **containers)


UNSCHEDULABLE = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/1 nodes: no gpu"}


@pytest.mark.parametrize(
    ("objects", "state", "about"),
    [
        ([job()], JobState.PENDING, "no pod yet"),
        ([job(), pod("Pending", "", conditions=[UNSCHEDULABLE])], JobState.PENDING, "Unschedulable: 0/1 nodes: no gpu"),
        ([job(), waiting("ImagePullBackOff", "Back-off")], JobState.PENDING, "cannot be pulled"),
        ([job(), waiting("ErrImagePull", "not found")], JobState.PENDING, "not found"),
        ([job(), waiting("CreateContainerConfigError", 'secret "x"')], JobState.PENDING, 'missing): secret "x"'),
        ([job(), waiting("ContainerCreating")], JobState.PENDING, "being started"),
        ([job(), pod("Running")], JobState.RUNNING, "running"),
        ([job(), pod("Unknown")], JobState.UNKNOWN, "does not answer"),
        ([job(), ended(0)], JobState.RUNNING, "ending"),
        ([ended(0), job(condition("Complete"))], JobState.ENDED, "complete"),
        ([job(condition("Failed")), ended(10, reason="Error")], JobState.ENDED, "exit code 10"),
        ([job(condition("Failed")), ended(137, reason="OOMKilled")], JobState.ENDED, "exit code 137 (OOMKilled)"),
        ([job(condition("Failed", reason="DeadlineExceeded"))], JobState.ENDED, "DeadlineExceeded"),
        ([job(condition("Failed", reason="DeadlineExceeded")), pod("Running")], JobState.RUNNING, "ending"),
        ([job(condition("Failed")), overdue({"running": {}})], JobState.RUNNING, "ending"),
        ([job(condition("Failed")), overdue({"terminated": {"exitCode": 75}})], JobState.ENDED, "DeadlineExceeded"),
        ([job(condition("Failed")), overdue(None)], JobState.ENDED, "DeadlineExceeded"),
        (
            [job(condition("Failed")), overdue({"waiting": {"reason": "ErrImagePull"}})],
            JobState.ENDED,
            "did not start within its time: ErrImagePull",
        ),
        ([job(condition("Failed", reason="BackoffLimitExceeded"))], JobState.ENDED, "BackoffLimitExceeded"),
        ([job({}, spec={"suspend": True})], JobState.PENDING, "suspended"),
        ([job(metadata={"deletionTimestamp": "now"})], JobState.RUNNING, "being deleted"),
    ],
)
def test_its_state_and_why(objects: list[dict[str, Any]], state: JobState, about: str) -> None:
    (found,) = jobs(objects)["t1"]
    assert found.state is state
    assert about in found.about
    assert found.claim == "k8s-1.1"


def test_the_exit_code_and_the_last_word_are_its_containers() -> None:
    (found,) = jobs([job(condition("Failed")), ended(10, message='{"state": "failed"}')])["t1"]
    assert (found.exit, found.said, found.node) == (10, '{"state": "failed"}', "n1")


def test_of_several_pods_the_last_counts() -> None:
    first, second = pod("Failed"), pod("Running", "n2")
    first["metadata"]["creationTimestamp"], second["metadata"]["creationTimestamp"] = "1", "2"
    (found,) = jobs([job(), second, first])["t1"]
    assert (found.state, found.node) == (JobState.RUNNING, "n2")

"""What a Job and its pods say of themselves, as a state of ours and the reason for it. Pure.

A pod that cannot be had is no failure of the task: it waits, and we say what for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from paddock.work.kubernetes.spec import CLAIM, CONTAINER, TASK
from paddock.work.launcher import Job, JobState

Object = Mapping[str, Any]

# Why a container does not start, and what to do about it.
_HINTS = {
    "ImagePullBackOff": "the image cannot be pulled: check its name, its tag and pull_secret",
    "ErrImagePull": "the image cannot be pulled: check its name, its tag and pull_secret",
    "InvalidImageName": "the image's name is none",
    "ErrImageNeverPull": "the image is not on the node, and pull=Never",
    "CreateContainerConfigError": "a Secret or ConfigMap that it names is missing",
    "CreateContainerError": "the container cannot be made",
    "RunContainerError": "the container cannot be started",
}
OVERDUE = "DeadlineExceeded"
_LONGEST = 300


def jobs(objects: Iterable[Object]) -> dict[str, list[Job]]:
    """Jobs and pods as they came, in any order: a Job of ours for each of theirs, by task, the oldest first."""
    found: list[Object] = []
    pods: dict[str, list[Object]] = {}
    for one in objects:
        if one.get("kind") == "Pod":
            for owner in one["metadata"].get("ownerReferences", ()):
                pods.setdefault(owner.get("uid", ""), []).append(one)
        elif one.get("kind") == "Job":
            found.append(one)
    by_task: dict[str, list[Job]] = {}
    for one in sorted(found, key=lambda one: one["metadata"].get("creationTimestamp", "")):
        job = judge(one, pods.get(one["metadata"].get("uid", ""), ()))
        by_task.setdefault(job.task, []).append(job)
    return by_task


def judge(job: Object, pods: Sequence[Object] = ()) -> Job:
    about = job["metadata"]
    notes = about.get("annotations", {})
    task = notes.get(TASK) or about.get("labels", {}).get(TASK, "")
    pod = max(pods, key=lambda pod: pod["metadata"].get("creationTimestamp", ""), default=None)
    node = pod.get("spec", {}).get("nodeName", "") if pod is not None else ""
    state, why = _state(job, pod)
    ended = terminated(pod) if pod is not None else None
    return Job(
        task,
        about["name"],
        state,
        why,
        node,
        claim=notes.get(CLAIM, ""),
        exit=ended.get("exitCode") if ended else None,
        said=str(ended.get("message", "")) if ended else "",
        try_=pod["metadata"].get("name", "") if pod is not None else "",
    )


def _state(job: Object, pod: Object | None) -> tuple[JobState, str]:
    status = job.get("status", {})
    if job["metadata"].get("deletionTimestamp"):
        return JobState.RUNNING, "being deleted"  # for as long as its pod may live
    for condition in status.get("conditions", ()):
        if condition.get("status") == "True" and condition.get("type") in ("Complete", "Failed"):
            if pod is not None and (pod_phase(pod) in ("Running", "Pending", "Unknown") or _is_ending(pod)):
                return JobState.RUNNING, "ending"  # its deadline is over, and its pod has not gone yet
            return JobState.ENDED, _ended(condition, pod)
    if pod is not None:
        return pod_state(pod)
    if job.get("spec", {}).get("suspend"):
        queue = job["metadata"].get("labels", {}).get("kueue.x-k8s.io/queue-name", "")
        return JobState.PENDING, f"suspended: waits in Kueue's queue {queue}" if queue else "suspended"
    return JobState.PENDING, "has no pod yet"


def _is_ending(pod: Object) -> bool:
    """Its time is over, and it has failed, but what runs in it has its grace."""
    return _is_overdue(pod) and "running" in _container(pod)


def _is_overdue(pod: Object) -> bool:
    return bool(pod.get("status", {}).get("reason") == OVERDUE)


def pod_phase(pod: Object) -> str:
    return str(pod.get("status", {}).get("phase", "Unknown"))


def pod_state(pod: Object) -> tuple[JobState, str]:
    phase = pod_phase(pod)
    if phase in ("Succeeded", "Failed"):
        return JobState.RUNNING, "ending"  # the Job's own word is what counts
    if phase == "Running":
        return JobState.RUNNING, "running"
    if phase == "Pending":
        return JobState.PENDING, why_pending(pod)
    return JobState.UNKNOWN, f"its node does not answer ({phase})"


def why_pending(pod: Object) -> str:
    status = pod.get("status", {})
    for one in (*status.get("initContainerStatuses", ()), *status.get("containerStatuses", ())):
        waiting = one.get("state", {}).get("waiting")
        if waiting and waiting.get("reason") not in (None, "ContainerCreating", "PodInitializing"):
            return reason(waiting["reason"], waiting.get("message", ""))
    for condition in status.get("conditions", ()):
        if condition.get("type") == "PodScheduled" and condition.get("status") == "False":
            return reason(condition.get("reason", "Unschedulable"), condition.get("message", ""))
    return "is being started" if pod.get("spec", {}).get("nodeName") else "waits for a node"


def reason(word: str, message: str) -> str:
    hint = _HINTS.get(word, "")
    said = " ".join(str(message).split())
    said = said if len(said) <= _LONGEST else said[:_LONGEST] + "..."
    return word + (f" ({hint})" if hint else "") + (f": {said}" if said else "")


def terminated(pod: Object) -> Object | None:
    """How our container ended."""
    found: Object | None = _container(pod).get("terminated")
    return found


def _container(pod: Object) -> Object:
    """The state of ours."""
    for one in pod.get("status", {}).get("containerStatuses", ()):
        if one.get("name") == CONTAINER:
            found: Object = one.get("state", {})
            return found
    return {}


def _ended(condition: Object, pod: Object | None) -> str:
    if condition.get("type") == "Complete":
        return "complete"
    ended = terminated(pod) if pod is not None else None
    if pod is not None and _is_overdue(pod) and "waiting" in _container(pod):
        return f"it did not start within its time: {why_pending(pod)}"
    if condition.get("reason") == OVERDUE or (pod is not None and _is_overdue(pod)):
        return f"{OVERDUE}: it took longer than its time"
    if ended:
        word = ended.get("reason", "")
        return f"exit code {ended.get('exitCode')}" + (f" ({word})" if word not in ("", "Error") else "")
    if pod is not None and pod.get("status", {}).get("reason"):
        return reason(pod["status"]["reason"], pod["status"].get("message", ""))
    return reason(condition.get("reason", "Failed"), condition.get("message", "") if pod is None else "")

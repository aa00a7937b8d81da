"""What the verbs of Kubernetes share: which cluster, and what of it is ours."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import click

from paddock import settings
from paddock.errors import Ambiguous, NotFound, UsageError
from paddock.queue import engine as engines
from paddock.work.kubernetes import spec, states
from paddock.work.kubernetes.client import Client
from paddock.work.kubernetes.launcher import options
from paddock.work.kubernetes.options import Options
from paddock.work.launcher import JobState

ALL = ",".join(f"{key}={value}" for key, value in spec.MANAGED_BY.items())
STYLES = {"pending": "yellow", "running": "cyan", "failed": "red", "done": "green", "unknown": "magenta"}


def on_option(function: Callable[..., Any]) -> Callable[..., Any]:
    return click.option(
        "--on",
        metavar="URL",
        help="The cluster: k8s://CONTEXT/NAMESPACE [kubectl's own].",
    )(function)


def told(on: str | None, more: Mapping[str, Any] | None = None) -> Options:
    """All that is known of the place: from paddock.toml, the URL and the command line."""
    engine = engines.parse("k8s://" if on == "k8s" else on or _usual())
    if engine.scheme != "k8s":
        raise UsageError(f"--on {on} is no cluster of Kubernetes.", hint="Write k8s://CONTEXT/NAMESPACE.")
    return options(engine, more or {})


def _usual() -> str:
    """The queue that submit uses, when that is one of Kubernetes; else whatever kubectl says."""
    queue = str(settings.load().queue)
    return queue if queue.startswith("k8s://") else "k8s://"


def client(on: str | None) -> Client:
    found = told(on)
    return Client(found.context, found.namespace)


class Thing(NamedTuple):
    """A Job with its last pod, or a pod by itself."""

    kind: str  # job, pod
    name: str
    task: str
    state: str
    about: str
    node: str
    pod: str
    made: str
    exit: int | None = None

    @property
    def is_over(self) -> bool:
        return self.state in ("done", "failed")


class Look(NamedTuple):
    """All that is ours in the namespace, the newest first, as it was at these versions of the two lists."""

    things: list[Thing]
    versions: dict[str, str]


def look(client: Client) -> Look:
    """One list of Jobs, one of pods."""
    versions: dict[str, str] = {}
    objects: list[dict[str, Any]] = []
    for kind in ("Job", "Pod"):
        found, versions[kind] = client.listed(kind, ALL)
        objects += found
    pods: dict[str, list[Mapping[str, Any]]] = {}
    for one in objects:
        for owner in one["metadata"].get("ownerReferences", ()) if one["kind"] == "Pod" else ():
            pods.setdefault(owner["uid"], []).append(one)
    jobs = [_job(one, pods.get(one["metadata"]["uid"], [])) for one in objects if one["kind"] == "Job"]
    alone = [one for one in objects if one["kind"] == "Pod" and not one["metadata"].get("ownerReferences")]
    return Look(sorted((*jobs, *map(_pod, alone)), key=lambda thing: thing.made, reverse=True), versions)


def things(client: Client) -> list[Thing]:
    return look(client).things


def rest(client: Client, since: Look, kind: str, seconds: float) -> None:
    """Until a Job or a pod of ours has changed since that look."""
    client.rest(kind, ALL, since.versions[kind], seconds)


def _job(one: Mapping[str, Any], pods: Sequence[Mapping[str, Any]]) -> Thing:
    job = states.judge(one, pods)
    last = max(pods, key=lambda pod: pod["metadata"].get("creationTimestamp", ""), default=None)
    word = job.state.value
    if job.state is JobState.ENDED:
        word = "done" if job.about == "complete" else "failed"
    name = last["metadata"]["name"] if last is not None else ""
    return Thing("job", job.id, job.task, word, job.about, job.node, name, _made(one), job.exit)


def _pod(one: Mapping[str, Any]) -> Thing:
    state, about = states.pod_state(one)
    ended = states.terminated(one)
    word = state.value
    if states.pod_phase(one) in ("Succeeded", "Failed"):
        word = "done" if states.pod_phase(one) == "Succeeded" else "failed"
        about = f"exit code {ended['exitCode']}" if ended else str(one.get("status", {}).get("reason", word))
    name = one["metadata"]["name"]
    node = one.get("spec", {}).get("nodeName", "")
    return Thing("pod", name, "", word, about, node, name, _made(one), ended["exitCode"] if ended else None)


def _made(one: Mapping[str, Any]) -> str:
    return str(one["metadata"].get("creationTimestamp", ""))


def choose(found: Sequence[Thing], word: str, where: str) -> Thing:
    """By the id of its task, its own name, or the beginning of either."""
    exact = [one for one in found if word in (one.name, one.task, one.pod)]
    if exact:
        return exact[0]  # the newest
    near = [one for one in found if one.name.startswith(word) or one.task.startswith(word)]
    if len({one.task or one.name for one in near}) > 1:
        names = tuple(one.name for one in near[:10])
        raise Ambiguous(f"{word!r} fits {len(near)} jobs.", names, hint=f"Such as {', '.join(names[:3])}.")
    if not near:
        raise NotFound(f"There is nothing of ours called {word!r} in {where}.", hint="`paddock k8s status` lists it.")
    return near[0]

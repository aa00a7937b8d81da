"""The objects that are sent to Kubernetes, as dicts. Pure: values in, values out, and no text is ever pasted together.

A Job never tries again by itself (`backoffLimit: 0`, `restartPolicy: Never`): how often a task is tried is ours to say.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any

from paddock.errors import UsageError
from paddock.queue.task import Task
from paddock.work.kubernetes.names import label, name
from paddock.work.kubernetes.options import Mount, Options, Secret
from paddock.work.launcher import Parcel

Spec = dict[str, Any]

TASK, QUEUE, CLAIM, ROLE = "paddock.dev/task", "paddock.dev/queue", "paddock.dev/claim", "paddock.dev/role"
MANAGED_BY = {"app.kubernetes.io/managed-by": "paddock"}
KUEUE = "kueue.x-k8s.io/queue-name"
CONTAINER = "task"
TASK_DIRECTORY, LONE_HOME = "/paddock/task", "/paddock/home"
MESSAGE_PATH = "/dev/termination-log"
GRACE_SECONDS = 45  # a worker gives its task 30 s, and then has to say so
REPLACES = (1, 28)  # from this version on a Job can be told to wait until a pod is gone before it makes another
SUSPENDS = (1, 21)
_MOST_BYTES = 1_000_000  # of a ConfigMap, about
Version = tuple[int, int]
NEWEST: Version = (1, 99)
_LONE_VOLUME: tuple[Spec, Spec] = ({"name": "home", "emptyDir": {}}, {"name": "home", "mountPath": LONE_HOME})


def labels(task: str, queue: str, role: str) -> dict[str, str]:
    return {**MANAGED_BY, TASK: label(task), QUEUE: queue, ROLE: role}


def worker_job(task: Task, queue: str, queue_name: str, options: Options, unique: str, version: Version) -> Spec:
    """A Job whose pod sees the home, and runs a worker for this one task."""
    home = options.home
    assert home is not None
    slots = ["--slots", "1"] if task.gpus else []
    command = [options.program, "worker", "--home", home.path, "--only", task.id, *_room(task), *slots, queue_name]
    return _job(task, queue, "worker", options, unique, version, command, {"PADDOCK_HOME": home.path}, [], {})


def task_job(parcel: Parcel, queue: str, options: Options, unique: str, version: Version) -> Spec:
    """A Job whose pod finds the task in a ConfigMap of the same name."""
    called = name(parcel.task.id, unique)
    volumes = [
        ({"name": "task", "configMap": {"name": called}}, {"name": "task", "mountPath": TASK_DIRECTORY}),
        _LONE_VOLUME,
    ]
    command = [options.program, "task", f"{TASK_DIRECTORY}/{parcel.task.id}"]
    told = {CLAIM: parcel.claim}
    env = {"PADDOCK_HOME": LONE_HOME, "PADDOCK_RESULT": MESSAGE_PATH}
    return _job(parcel.task, queue, "task", options, unique, version, command, env, volumes, told)


def config_map(parcel: Parcel, job: str, uid: str, queue: str) -> Spec:
    """The task's file, which goes when its Job goes."""
    if len(parcel.data) > _MOST_BYTES:
        raise UsageError(
            f"{parcel.task.id} is too large to be handed over ({len(parcel.data):,} bytes).",
            hint="Kubernetes takes 1 MB: keep large texts in files, or give the pods a home (home=CLAIM:/PATH).",
        )
    try:
        content = {"data": {parcel.task.id: parcel.data.decode("utf-8")}}
    except UnicodeDecodeError:
        content = {"binaryData": {parcel.task.id: base64.b64encode(parcel.data).decode()}}
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": job,
            "labels": labels(parcel.task.id, queue, "task"),
            "ownerReferences": [
                {"apiVersion": "batch/v1", "kind": "Job", "name": job, "uid": uid, "blockOwnerDeletion": True}
            ],
        },
        "immutable": True,
        **content,
    }


def pod(command: Sequence[str], called: str, options: Options, *, gpus: int = 0, cpus: int = 0, mem: int = 0) -> Spec:
    """A pod that runs a command, and nothing else of ours."""
    task = Task(id=called, command="", gpus=gpus, cpus=cpus, mem=mem)
    about = labels(called, "none", "pod")
    spec = _pod(task, options, list(command), dict(options.env), [])
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": called, "labels": about}, "spec": spec}


def pilot_job(
    each: Task,
    queue: str,
    queue_name: str,
    options: Options,
    unique: str,
    version: Version,
    *,
    slots: int,
    lasting: bool,
) -> Spec:
    """A Job whose pod runs a worker that takes any task of a queue: one in a home that the pods see, or in Redis."""
    if options.home is None and "://" not in queue_name:
        raise UsageError(
            "Workers on Kubernetes need a home that their pods see, or a queue in Redis.",
            hint="Add ?home=CLAIM:/PATH to the engine's URL.",
        )
    path = options.home.path if options.home is not None else LONE_HOME
    own = [] if options.home is not None else [_LONE_VOLUME]
    stay = [] if lasting else ["--no-persist"]
    command = [options.program, "worker", "--home", path, "--slots", str(slots), *_room(each), *stay, queue_name]
    return _job(each, queue, "pilot", options, unique, version, command, {"PADDOCK_HOME": path}, own, {})


def _room(needs: Task) -> list[str]:
    """What the pod has, for its worker, which may see more or less: then it would take what is larger than the pod, or
    never begin."""
    has = ["--gpus", ",".join(map(str, range(needs.gpus)))] if needs.gpus else []
    has += ["--cpus", str(needs.cpus)] if needs.cpus else []
    return [*has, *(["--mem", str(needs.mem)] if needs.mem else [])]


def _job(
    task: Task,
    queue: str,
    role: str,
    options: Options,
    unique: str,
    version: Version,
    command: list[str],
    env: Mapping[str, str],
    volumes: Sequence[tuple[Spec, Spec]],
    told: Mapping[str, str],
) -> Spec:
    about = labels(task.id, queue, role)
    metadata: Spec = {
        "name": name(task.id, unique),
        "labels": {**about, **({KUEUE: options.kueue} if options.kueue else {})},
        "annotations": {TASK: task.id, **({"paddock.dev/name": task.name} if task.name else {}), **told},
    }
    spec: Spec = {
        "backoffLimit": 0,
        "completions": 1,
        "parallelism": 1,
        "ttlSecondsAfterFinished": options.ttl,
        "template": {
            "metadata": {"labels": about, "annotations": {TASK: task.id}},
            "spec": _pod(task, options, command, {**dict(options.env), **env}, volumes),
        },
    }
    if version >= REPLACES:
        spec["podReplacementPolicy"] = "Failed"
    if options.kueue and version >= SUSPENDS:
        spec["suspend"] = True  # Kueue lets it go
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": spec}


def _pod(
    task: Task, options: Options, command: list[str], env: Mapping[str, str], own: Sequence[tuple[Spec, Spec]]
) -> Spec:
    if not options.image:
        raise UsageError(
            "Kubernetes has to be told an image.",
            hint="Write k8s://CONTEXT/NAMESPACE?image=IMAGE, --engine image=IMAGE, or image in [kubernetes].",
        )
    volumes = [*own, *_volumes(options)]
    container: Spec = {
        "name": CONTAINER,
        "image": options.image,
        "command": command,
        "env": _env(options, env),
        "terminationMessagePath": MESSAGE_PATH,
        "terminationMessagePolicy": "FallbackToLogsOnError",
    }
    if whole := [{"secretRef": {"name": one.name}} for one in options.secrets if not one.variable]:
        container["envFrom"] = whole
    if options.pull:
        container["imagePullPolicy"] = options.pull
    if resources := _resources(task, options):
        container["resources"] = resources
    if volumes:
        container["volumeMounts"] = [mount for _, mount in volumes]
    spec: Spec = {
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": GRACE_SECONDS,
        "containers": [container],
    }
    if options.time:
        # The pod's, not its Job's, which would begin while it waits for a node.
        spec["activeDeadlineSeconds"] = options.time
    if volumes:
        spec["volumes"] = [volume for volume, _ in volumes]
    if options.select:
        spec["nodeSelector"] = dict(options.select)
    if options.tolerate:
        spec["tolerations"] = [_toleration(*one) for one in options.tolerate]
    if options.account:
        spec["serviceAccountName"] = options.account
    if options.priority_class:
        spec["priorityClassName"] = options.priority_class
    if options.pull_secret:
        spec["imagePullSecrets"] = [{"name": options.pull_secret}]
    if options.host_network:
        spec["hostNetwork"] = True
    if options.user:
        spec["securityContext"] = dict(zip(("runAsUser", "runAsGroup"), options.user, strict=False))
    return spec


def _env(options: Options, more: Mapping[str, str]) -> list[Spec]:
    given = {
        **({"PADDOCK_SERVER": options.server} if options.server else {}),
        **({"PADDOCK_CODE_STORE": options.code_store} if options.code_store else {}),
        **more,
    }
    # A dollar sign would be the beginning of another variable's name: two are one.
    plain = [{"name": key, "value": value.replace("$(", "$$(")} for key, value in given.items()]
    secret = [one for one in (options.token, *options.secrets) if one is not None and one.variable]
    return [*plain, *map(_secret, secret)]


def _secret(one: Secret) -> Spec:
    return {"name": one.variable, "valueFrom": {"secretKeyRef": {"name": one.name, "key": one.key}}}


def _resources(task: Task, options: Options) -> Spec:
    wanted: dict[str, str] = {}
    if task.cpus:
        wanted["cpu"] = str(task.cpus)
    if task.mem:
        wanted["memory"] = str(task.mem)
    limits = {key: value for key, value in wanted.items() if key == "memory"}
    if task.gpus:
        wanted[options.accelerator] = limits[options.accelerator] = str(task.gpus)
    return {"requests": wanted, **({"limits": limits} if limits else {})} if wanted else {}


def _volumes(options: Options) -> list[tuple[Spec, Spec]]:
    found: list[tuple[Spec, Spec]] = []

    def add(source: Spec, mount: Mount) -> None:
        called = f"volume-{len(found)}"
        at: Spec = {"name": called, "mountPath": mount.path}
        found.append(({"name": called, **source}, {**at, "readOnly": True} if mount.read_only else at))

    for one in (*((options.home,) if options.home else ()), *options.volumes):
        add({"persistentVolumeClaim": {"claimName": one.source}}, one)
    for one in options.scratch:
        add({"emptyDir": {"sizeLimit": one.source} if one.source else {}}, one)
    for one in options.claim:
        asked: Spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": one.source}}}
        if one.storage_class:
            asked["storageClassName"] = one.storage_class
        add({"ephemeral": {"volumeClaimTemplate": {"spec": asked}}}, one)
    return found


def _toleration(key: str, value: str | None, effect: str) -> Spec:
    found: Spec = {"key": key, "operator": "Exists" if value is None else "Equal"}
    if value is not None:
        found["value"] = value
    return {**found, **({"effect": effect} if effect else {})}

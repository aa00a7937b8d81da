"""Every object that is sent fits the schemas of Kubernetes, whatever the task and its options are."""

from __future__ import annotations

import base64
from typing import Any

import kubernetes_validate
import pytest

from paddock.errors import UsageError
from paddock.queue.task import Task, render
from paddock.work.kubernetes import names, spec
from paddock.work.kubernetes.options import Options, merge
from paddock.work.launcher import Parcel

ODD = 'it\'s "$(HOME)" `date` \\n ${x} %s {{y}} ; & | > < * ? ~ ! # é 漢 \t end'
VERSIONS = [f"1.{minor}" for minor in range(25, 38)]  # all whose schemas there are
FULL: dict[str, Any] = {
    "image": "registry.example/train:1",
    "pull": "IfNotPresent",
    "pull_secret": "registry",
    "server": "https://paddock.example",
    "token": "paddock/token",
    "select": "disk=ssd,example.com/zone=a",
    "tolerate": "gpu=true:NoSchedule,spot,slow=:PreferNoSchedule",
    "volumes": "data:/data:ro,models:/models",
    "scratch": "/scratch:50Gi,/tmp/more",
    "claim": "/big:200Gi:fast",
    "secrets": "WANDB_API_KEY=wandb/key,all-of-them",
    "env": {"ODD": ODD.replace("\t", " ")},
    "kueue": "team-a",
    "account": "trainer",
    "priority_class": "low",
    "user": "1000:1000",
    "time": "4h",
    "ttl": "1d",
}


def valid(one: dict[str, Any], version: str) -> None:
    kubernetes_validate.validate(one, version, strict=True)


def task(**about: Any) -> Task:
    return Task(**{"id": "20261118-023000-123456-k3f9", "command": f"echo {ODD}", **about})


def tuple_of(version: str) -> tuple[int, int]:
    major, minor = version.split(".")
    return int(major), int(minor)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("told", [{"image": "train"}, FULL], ids=["least", "most"])
def test_what_is_sent_fits_the_schemas(told: dict[str, Any], version: str) -> None:
    options, number = merge(told), tuple_of(version)
    parcel = Parcel(task(gpus=2, cpus=4, mem=8 << 30, name=ODD), "k8s-3f2a.1", render(task()))
    job = spec.task_job(parcel, "queue", options, "ab12", number)
    valid(job, version)
    valid(spec.config_map(parcel, job["metadata"]["name"], "1-2-3", "queue"), version)
    shared = merge(told, {"home": "shared:/home/paddock"})
    valid(spec.worker_job(task(gpus=1), "queue", "k8s-here", shared, "ab12", number), version)
    valid(spec.pilot_job(task(gpus=1), "queue", "gpu", shared, "ab12", number, slots=2, lasting=False), version)
    redis = "redis://redis:6379/0?queue=gpu"
    valid(spec.pilot_job(task(), "queue", redis, options, "ab12", number, slots=1, lasting=True), version)
    valid(spec.pod(["sh", "-c", ODD], "adhoc-1", options, gpus=1), version)


def test_a_job_never_tries_again_by_itself() -> None:
    job = spec.worker_job(task(), "q", "q", merge({"image": "i", "home": "c:/h"}), "ab12", (1, 30))
    assert job["spec"]["backoffLimit"] == 0
    assert job["spec"]["podReplacementPolicy"] == "Failed"
    assert job["spec"]["template"]["spec"]["restartPolicy"] == "Never"


def test_an_old_server_is_not_told_what_it_does_not_know() -> None:
    job = spec.worker_job(task(), "q", "q", merge({**FULL, "home": "c:/h"}), "ab12", (1, 20))
    assert not {"podReplacementPolicy", "suspend"} & set(job["spec"])
    assert job["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "team-a"


def test_gpus_are_asked_for_by_the_accelerators_name() -> None:
    options = merge({"image": "i", "accelerator": "amd.com/gpu"})
    job = spec.task_job(Parcel(task(gpus=2), "c", b""), "q", options, "ab12", (1, 30))
    (container,) = job["spec"]["template"]["spec"]["containers"]
    assert container["resources"]["limits"] == {"amd.com/gpu": "2"}


def test_secrets_are_named_and_never_shown() -> None:
    job = spec.task_job(Parcel(task(), "c", b""), "q", merge(FULL), "ab12", (1, 30))
    (container,) = job["spec"]["template"]["spec"]["containers"]
    by_name = {one["name"]: one for one in container["env"]}
    assert by_name["WANDB_API_KEY"]["valueFrom"] == {"secretKeyRef": {"name": "wandb", "key": "key"}}
    assert "value" not in by_name["PADDOCK_TOKEN"]
    assert container["envFrom"] == [{"secretRef": {"name": "all-of-them"}}]
    assert "$$(HOME)" in by_name["ODD"]["value"]  # or Kubernetes would put another variable there


def test_the_tasks_file_is_carried_byte_for_byte_and_goes_with_its_job() -> None:
    for data in (ODD.encode(), b"\xff\x00\xfe"):
        made = spec.config_map(Parcel(task(), "c", data), "job-1", "uid-1", "q")
        text = made.get("data", {}).get(task().id)
        carried = text.encode() if text is not None else base64.b64decode(made["binaryData"][task().id])
        assert carried == data
        (owner,) = made["metadata"]["ownerReferences"]
        assert (owner["kind"], owner["name"], owner["uid"]) == ("Job", "job-1", "uid-1")


def test_a_task_that_is_too_large_is_refused_with_what_to_do() -> None:
    with pytest.raises(UsageError, match="too large") as error:
        spec.config_map(Parcel(task(), "c", b"x" * 1_100_000), "job-1", "uid-1", "q")
    assert "home=CLAIM" in error.value.hint


def test_workers_that_see_no_queue_are_not_started() -> None:
    with pytest.raises(UsageError, match="home") as error:
        spec.pilot_job(task(), "q", "gpu", merge({"image": "i"}), "ab12", (1, 30), slots=1, lasting=False)
    assert "home=CLAIM" in error.value.hint


def test_a_worker_in_a_pod_takes_no_task_that_is_larger_than_the_pod() -> None:
    shared, large = merge({"image": "i", "home": "shared:/home/paddock"}), task(gpus=2, cpus=4, mem=8 << 30)
    job = spec.pilot_job(large, "q", "gpu", shared, "ab12", (1, 30), slots=3, lasting=False)
    (container,) = job["spec"]["template"]["spec"]["containers"]
    words = container["command"]
    told = {word: words[words.index(word) + 1] for word in ("--slots", "--gpus", "--cpus", "--mem")}
    assert told == {"--slots": "3", "--gpus": "0,1", "--cpus": "4", "--mem": str(8 << 30)}


def test_the_worker_of_one_task_is_told_what_its_pod_has() -> None:
    """It sees its node, or less: with that it might never begin."""
    large = Task(id="t", command="x", gpus=2, cpus=4, mem=8 << 30)
    job = spec.worker_job(large, "q", "q", merge({"image": "i", "home": "c:/h"}), "ab12", (1, 30))
    command = job["spec"]["template"]["spec"]["containers"][0]["command"]
    told = dict(zip(command[4:-1:2], command[5:-1:2], strict=True))
    assert told == {"--only": "t", "--gpus": "0,1", "--cpus": "4", "--mem": str(8 << 30), "--slots": "1"}


def test_without_an_image_nothing_is_sent() -> None:
    with pytest.raises(UsageError, match="image"):
        spec.pod(["true"], "p", Options())


@pytest.mark.parametrize("text", ["a", "A_b.C", "x" * 300, "ÄÖ", "-", "20261118-023000-123456-k3f9", "t.", "a" * 63])
def test_any_id_becomes_a_name_and_a_label(text: str) -> None:
    made = spec.task_job(Parcel(task(id=text), "c", b""), "q", merge({"image": "i"}), "ab12", (1, 30))
    assert names.is_name(made["metadata"]["name"], 52)
    assert names.is_label(made["metadata"]["labels"][spec.TASK])
    assert made["metadata"]["annotations"][spec.TASK] == text


def test_ids_that_look_alike_have_names_of_their_own() -> None:
    ids = ["a_b", "a-b", "A-b", "a.b", "x" * 60 + "1", "x" * 60 + "2"]
    assert len({names.name(one, "ab12") for one in ids}) == len(ids)


def test_the_time_of_a_task_begins_when_a_node_has_it() -> None:
    """A Job's own would begin while it waits for room."""
    for options in (merge({"image": "i", "time": "4h"}), merge({"image": "i", "time": "4h", "home": "c:/h"})):
        parcel = Parcel(task(), "k8s-3f2a.1", b"")
        job = (
            spec.worker_job(task(), "q", "q", options, "ab12", (1, 30))
            if options.home
            else spec.task_job(parcel, "q", options, "ab12", (1, 30))
        )
        assert job["spec"]["template"]["spec"]["activeDeadlineSeconds"] == 4 * 3600
        assert "activeDeadlineSeconds" not in job["spec"]

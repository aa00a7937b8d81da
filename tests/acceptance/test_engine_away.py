"""An engine that is not there, on a machine that has none of its programs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import paddock
from paddock.errors import UsageError


@pytest.mark.parametrize(
    ("on", "said", "hint"),
    [
        ("slurm://gpu", "There is no s", "login node"),  # sbatch, and later squeue
        ("k8s://lab/team?image=any:1", "There is no kubectl", "Install it"),
    ],
)
def test_the_task_is_queued_and_why_it_waits_is_said(
    program: Any, tmp_path: Path, on: str, said: str, hint: str
) -> None:
    program.environment["PATH"] = str(tmp_path)
    found = program("submit", "-q", "--no-snapshot", "--on", on, "--", "true")
    assert found.code == 0, found.err
    assert said in found.err and hint in found.err and "The tasks are queued" in found.err
    (queue,) = program("status", "--json").json["queues"]
    ((task, why),) = [(one["id"], one["why"]) for one in queue["waiting"]]
    assert task == found.out.strip() and said in why


@pytest.fixture
def bare(program: Any, tmp_path: Path) -> Any:
    """Where no engine's program is."""
    program.environment["PATH"] = str(tmp_path)
    return program


def why_it_waits(program: Any) -> list[str]:
    return [one["why"] for queue in program("status", "--json").json["queues"] for one in queue["waiting"]]


def test_an_engine_may_be_the_usual_queue(bare: Any) -> None:
    bare.environment["PADDOCK_QUEUE"] = "slurm://gpu"
    assert "There is no s" in bare("submit", "--no-snapshot", "--", "true").err
    assert all("There is no squeue" in why for why in why_it_waits(bare))
    assert "'colour'" in bare("submit", "--no-snapshot", "--engine", "colour=red", "--", "true").err
    bare.environment["PADDOCK_QUEUE"] = "k8s://lab/team?image=any:1"
    assert "kind: Job" in bare("submit", "--no-snapshot", "--dry-run", "--", "true").out


def test_a_dry_run_shows_what_sbatch_would_read_and_queues_nothing(bare: Any) -> None:
    submit = ("submit", "--no-snapshot", "--on", "slurm://gpu?account=me", "--gpus", "2", "--time", "90m", "--dry-run")
    found = bare(*submit, "--grid", "n=0..2", "--", "echo {n}")
    assert found.code == 0
    *told, nothing, call, shell = found.out.splitlines()[:6]
    assert [line.split(": ")[1] for line in told] == ["echo 0", "echo 1", "echo 2"]
    assert (nothing, call.split()[:2], shell) == ("", ["#", "sbatch"], "#!/bin/sh")
    assert {"--account=me", "--partition=gpu", "--gres=gpu:2", "--time=0-01:30:00", "--array=0-2"} <= set(call.split())
    (job,) = json.loads(bare(*submit, "--json", "--", "true").out)["jobs"]
    assert job["script"].startswith("#!/bin/sh") and "--array=0-2" not in job["arguments"]
    assert not list(Path(bare.home).glob("queues/*"))


def test_what_is_moved_to_an_engine_is_run_by_it(bare: Any) -> None:
    task = bare("submit", "-q", "--no-snapshot", "--", "true").out.strip()
    assert bare("move", task, "--to", "slurm://gpu").code == 0
    (why,) = why_it_waits(bare)
    assert "There is no squeue" in why


def test_on_takes_the_name_of_an_engine_and_no_queues(bare: Any) -> None:
    assert "There is no s" in bare("submit", "--no-snapshot", "--on", "slurm", "--", "true").err
    found = bare("submit", "--no-snapshot", "--on", "gpu", "--", "true")
    assert found.code == 2 and "slurm://PARTITION" in found.err and "-Q gpu" in found.err


@pytest.mark.parametrize("option", ["--on", "-Q"])
@pytest.mark.parametrize("url", ["pbs://gpu", "slurm:/gpu", "sge://"])
def test_an_engine_that_nobody_knows_is_no_directory(bare: Any, option: str, url: str) -> None:
    found = bare("submit", "--no-snapshot", option, url, "--", "true")
    assert found.code == 2 and repr(url) in found.err and "slurm://PARTITION" in found.err
    assert not list(bare.cwd.iterdir())


def test_python_says_what_an_engine_does_not_understand_before_anything_is_queued(program: Any) -> None:
    for how in ({"on": "slurm://gpu"}, {"queue": "slurm://gpu"}):
        with pytest.raises(UsageError, match="'colour'"):
            paddock.submit("true", snapshot=False, engine={"colour": "red"}, home=program.home, **how)
    assert not list(program.home.glob("queues/*"))


def test_python_says_that_a_redis_hears_nothing_of_engines(program: Any) -> None:
    with pytest.raises(UsageError, match="is none"):
        paddock.submit(
            "true", snapshot=False, queue="redis://nowhere.invalid", engine={"time": "1h"}, home=program.home
        )


def test_a_watch_does_not_hand_evaluations_to_who_starts_no_workers(bare: Any) -> None:
    found = bare("watch", ".", "--command", "true {path}", "-Q", "slurm://gpu")
    assert found.code == 2 and "paddock scale slurm" in found.err and "--no-worker" in found.err


def test_who_is_told_that_a_redis_is_no_engine_does_not_read_its_password(bare: Any) -> None:
    found = bare("submit", "-Q", "redis://:hidden@box/0", "--time", "1h", "--", "true")
    assert found.code == 2 and "is none" in found.err and "hidden" not in found.err


def test_a_pod_is_named_after_whatever_text_of_a_shell_it_runs(bare: Any) -> None:
    run = ("k8s", "run", "--image", "any:1", "--dry-run", "--json", "--")
    found = bare(*run, "cat <<EOF\nit's\nEOF")
    (pod,) = json.loads(found.out)["objects"]
    assert found.code == 0 and pod["metadata"]["name"].startswith("run-cat-")
    for nothing in ("", "  \n"):
        found = bare(*run, nothing)
        assert found.code == 2 and "There is no command" in found.err


def test_a_dry_run_has_a_label_that_kubernetes_takes_however_long_the_url_is(bare: Any) -> None:
    url = f"k8s://lab/team?image=registry.example/{'train' * 20}:1"
    found = bare("submit", "--no-snapshot", "--dry-run", "--json", "--on", url, "--", "true")
    for one in json.loads(found.out)["objects"]:
        assert all(len(value) <= 63 for value in one["metadata"]["labels"].values())


def test_what_only_an_engine_would_hear_is_said_to_be_unheard(bare: Any) -> None:
    found = bare("submit", "--no-snapshot", "-Q", "mine", "--time", "1h", "--", "true")
    assert found.code == 0 and "--timeout" in found.err
    assert "--timeout" not in bare("submit", "--no-snapshot", "-Q", "mine", "--", "true").err
    bare("submit", "--no-snapshot", "--on", "slurm://gpu", "--", "true")
    assert "--timeout" not in bare("submit", "--no-snapshot", "-Q", "slurm-gpu", "--time", "1h", "--", "true").err

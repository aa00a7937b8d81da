"""Whoever looks at a queue of Kubernetes from another directory, or with another context, does what was submitted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from paddock.errors import Refused, Unreachable, UsageError
from paddock.queue.directory import DirectoryQueue, find_queue
from paddock.queue.engine import FROZEN, parse
from paddock.queue.lifecycle import CANCELLED, Token
from paddock.queue.task import Task
from paddock.record.layout import Home
from paddock.work.kubernetes import site
from paddock.work.kubernetes.launcher import KubernetesLauncher, options
from paddock.work.kubernetes.site import Site
from paddock.work.launch.engines import frozen
from paddock.work.slurm.script import told_of

ENGINE = parse("k8s://lab/team")


@pytest.fixture
def stand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Stand in a directory whose paddock.toml says this."""

    def go(name: str, said: str) -> None:
        directory = tmp_path / name
        directory.mkdir(exist_ok=True)
        (directory / "paddock.toml").write_text(f"[kubernetes]\n{said}\n")
        monkeypatch.chdir(directory)

    return go


def test_a_task_takes_the_words_of_its_own_paddock_toml_with_it(stand: Any) -> None:
    stand("a", 'image = "a:1"\nselect = { disk = "ssd" }')
    told = {**frozen(ENGINE), "time": "1h"}
    stand("b", 'image = "b:1"\ntolerate = ["spot"]\nselect = { disk = "hdd" }')
    found = options(ENGINE, told)
    assert (found.image, found.select, found.tolerate, found.time) == ("a:1", (("disk", "ssd"),), (), 3600)
    assert options(parse("k8s://lab/team?image=url:1"), told).image == "url:1"
    assert options(ENGINE, {"time": "1h"}).image == "b:1"  # one that was moved here has none with it


def test_slurm_leaves_them_alone() -> None:
    """A task may move from one to the other."""
    assert told_of({FROZEN: {"image": "a:1"}, "time": "1h"}, {}) == {"time": "1h"}


def test_a_home_that_is_not_named_here_is_not_done_without(stand: Any, home: Home) -> None:
    stand("a", 'image = "a:1"\nhome = "shared:/home/paddock"')
    task = Task(id="t", command="true", engine=frozen(ENGINE))
    assert KubernetesLauncher(ENGINE, home).render("q", task)[0]["spec"]
    stand("b", 'image = "a:1"')
    with pytest.raises(UsageError, match="home=shared:/home/paddock, and here it says nothing"):
        KubernetesLauncher(ENGINE, home).render("q", task)
    said = parse("k8s://lab/team?home=shared:/home/paddock")
    assert KubernetesLauncher(said, home).render("q", task)[0]["spec"]


LAB = Site("lab", "https://lab:6443", "team")


@pytest.mark.parametrize(
    ("other", "differs"),
    [
        (LAB, False),
        (LAB._replace(context="mine"), False),  # another name for it
        (LAB._replace(server="https://127.0.0.1:1"), False),  # another way to it
        (LAB._replace(context="mine", server="https://mine:6443"), True),
        (LAB._replace(context="", server=""), False),  # in a pod of it, nobody knows its name
        (LAB._replace(namespace="other"), True),
        (LAB._replace(home="shared:/home"), True),
    ],
)
def test_where_a_queues_jobs_are(other: Site, differs: bool) -> None:
    assert LAB.differs(other) is differs and other.differs(LAB) is differs


@pytest.fixture
def clusters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """kubectl's configuration with two of them, where nobody answers; the function chooses one."""
    names = ("lab", "mine")
    config: dict[str, Any] = {
        "clusters": [
            {"name": name, "cluster": {"server": f"http://127.0.0.1:{port}"}} for port, name in enumerate(names, 1)
        ],
        "users": [{"name": "me", "user": {"token": "none"}}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": "me"}} for name in names],
    }
    path = tmp_path / "kubeconfig"
    monkeypatch.setenv("KUBECONFIG", str(path))

    def use(name: str) -> None:
        path.write_text(json.dumps({**config, "current-context": name}))

    return use


def test_a_queue_with_jobs_is_not_looked_for_in_another_cluster(home: Home, clusters: Any) -> None:
    engine = parse("k8s://?image=any:1")
    queue = find_queue(engine.url, home)
    assert isinstance(queue, DirectoryQueue)
    queue.prepare()
    queue.put([Task(id="t", command="true")])
    clusters("lab")
    site.keep(queue, KubernetesLauncher(engine, home)._site())
    (queue.path / ".jobs").mkdir()
    (queue.path / ".jobs" / "t").write_text("k8s t-1 2026-11-19 00:00:00 attempts 0\n")
    with pytest.raises(Unreachable):
        KubernetesLauncher(engine, home).look(queue)
    clusters("mine")
    with pytest.raises(Refused, match=r"are in the context lab.* from here it would be the context mine"):
        KubernetesLauncher(engine, home).look(queue)
    (queue.path / ".jobs" / "t").unlink()  # it has no Job: it may begin anywhere
    with pytest.raises(Unreachable):
        KubernetesLauncher(engine, home).look(queue)
    (place,) = queue.list().places
    queue.move(place, place._replace(state=CANCELLED, token=Token("k8s-3f2a9c", 1)))  # its Job has still to be ended
    with pytest.raises(Refused):
        KubernetesLauncher(engine, home).look(queue)

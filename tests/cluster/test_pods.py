"""What only a container shows: our worker is its first process, its files go with it, and its memory has a limit.

PADDOCK_TEST_K8S and PADDOCK_TEST_K8S_IMAGE are set by `make test-pods`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from paddock.queue.show.view import tasks
from paddock.record.layout import Home
from tests.acceptance.conftest import new_program
from tests.cluster.apiserver import make_room, remove
from tests.waiting import until

CONFIG, IMAGE = (os.environ.get(name, "") for name in ("PADDOCK_TEST_K8S", "PADDOCK_TEST_K8S_IMAGE"))
pytestmark = pytest.mark.skipif(not (CONFIG and IMAGE), reason="PADDOCK_TEST_K8S_IMAGE names no image")


@pytest.fixture
def program(home: Home, tmp_path: Path) -> Iterator[Any]:
    make_room(CONFIG, gpus=4)
    made = new_program(home.path, tmp_path)
    made.environment["KUBECONFIG"] = CONFIG
    yield made
    remove(CONFIG, "app.kubernetes.io/managed-by=paddock")


def url(*options: str, image: str = IMAGE) -> str:
    return "k8s://test/default?" + "&".join([f"image={image}", "pull=Never", *options])


def submit(program: Any, on: str, *words: str) -> str:
    found = program("submit", "-q", "--no-snapshot", "--on", on, *words)
    assert found.code == 0, found.err
    return str(found.out.strip())


def ended(program: Any, on: str, task: str) -> Any:
    def over() -> Any:
        assert program("status", "-Q", on).code == 0
        return next(
            (entry for entry in tasks(on, home=Home(program.home)) if entry.id == task and entry.state in OVER), None
        )

    return until(over, pause=0.5)


OVER = ("done", "failed")


def test_the_worker_is_the_first_process_and_leaves_no_zombie(program: Any) -> None:
    """Nobody else there would take in the orphans of a task."""
    zombies = "grep -l '^State:.Z' /proc/[0-9]*/status | wc -l"
    script = f"(sh -c 'sleep 0.2 & exit' &); sleep 1; echo zombies $({zombies}); tr '\\0' ' ' < /proc/1/cmdline"
    found = ended(program, url(), submit(program, url(), "--", script))
    assert found.state == "done"
    (attempt,) = found.file.attempts
    assert "zombies 0" in attempt.tail and "paddock task" in attempt.tail


def test_what_a_task_prints_is_what_kubernetes_has_as_its_log(program: Any) -> None:
    task = submit(program, url(), "--", "echo one; echo two >&2; exit 3")
    found = ended(program, url(), task)
    assert (found.state, found.file.attempts[-1].exit) == ("failed", "exit code 3")
    said = program("k8s", "logs", task).out.splitlines()  # and what the worker says, with the time before it
    assert [line for line in said if line in ("one", "two")] == ["one", "two"]


def test_a_task_that_takes_more_memory_than_it_asked_for_is_ended_and_that_is_said(program: Any) -> None:
    hog = "python3 -c 'x = bytearray(300_000_000); print(len(x))'"
    found = ended(program, url(), submit(program, url(), "--mem", "100M", "--", hog))
    assert found.state == "failed"
    assert "memory" in str(found.file.attempts[-1]).lower() or "OOM" in str(found.file.attempts[-1])


def test_an_image_that_the_node_has_not_is_named_and_the_task_is_still_queued(program: Any) -> None:
    on = url(image="paddock.test/nothing:1")
    task = submit(program, on, "--", "true")

    def why() -> Any:
        jobs = program("k8s", "status", "--json").json["jobs"]
        return next((one["about"] for one in jobs if one["task"] == task and "ErrImageNeverPull" in one["about"]), None)

    assert "the image is not on the node" in until(why, pause=0.5)
    assert [entry.state for entry in tasks(on, home=Home(program.home))] == ["queued"]


def test_a_pod_that_was_killed_by_its_node_is_lost_and_its_task_runs_again(program: Any, tmp_path: Path) -> None:
    """Every process of it at once, as a node does it that runs out of memory."""
    on = url()
    task = submit(program, on, "--", "echo begun; test $PADDOCK_ATTEMPT -ge 2 || { kill -9 -1; sleep 60; }")
    found = ended(program, on, task)
    assert found.state == "done", found.file.attempts
    assert [attempt.outcome for attempt in found.file.attempts][-1] == "done"

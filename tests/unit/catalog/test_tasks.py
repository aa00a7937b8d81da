"""A task is a run from its submission on: the catalog lists what waits in the home's queues."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from paddock.catalog.catalog import Catalog
from paddock.queue.directory import DirectoryQueue, find_queue
from paddock.queue.entry.submission import Submitted, submit
from paddock.record.layout import Home
from paddock.work.attempts.attempt import begin, finish


@pytest.fixture
def catalog(home: Home) -> Iterator[Catalog]:
    with Catalog.open(home) as found:
        yield found


def put(home: Home, command: str = "echo", **about: object) -> Submitted:
    return submit(command, home=home, snapshot=False, **about)  # type: ignore[arg-type]


def states(catalog: Catalog) -> dict[str, str]:
    catalog.refresh()
    return {row.id: row.state for row in catalog.runs()}


def move(home: Home, task: Submitted, before: str, after: str) -> None:
    queue = find_queue("default", home)
    os.rename(queue.directory(before) / task.id, queue.directory(after) / task.id)


def test_a_submitted_task_is_listed_as_queued_with_its_facts(home: Home, catalog: Catalog) -> None:
    task = put(home, "python train.py", name="train", project="digits", config={"lr": 0.1}, tags=["base"])
    catalog.refresh()
    (row,) = catalog.runs()
    assert (row.id, row.name, row.project, row.state, row.queue) == (task.id, "train", "digits", "queued", "default")
    assert (row.config, row.tags, row.command[-1]) == ({"lr": 0.1}, ("base",), "python train.py")
    assert catalog.run("train").id == catalog.run(task.id[:-2]).id == task.id


def test_a_task_that_people_move_is_listed_where_it_is(home: Home, catalog: Catalog) -> None:
    task = put(home)
    assert states(catalog) == {task.id: "queued"}
    move(home, task, "queued", "paused")
    assert states(catalog) == {task.id: "paused"}
    move(home, task, "paused", "failed")
    assert states(catalog) == {task.id: "failed"}
    (find_queue("default", home).directory("failed") / task.id).unlink()
    assert states(catalog) == {}


def test_a_run_that_waits_for_its_next_attempt_is_queued(home: Home, catalog: Catalog) -> None:
    task = put(home)
    queue = find_queue("default", home)
    (place,) = queue.list().places
    running, output = begin(home, place, queue.read(place), "w", (), home.path / "trees")
    os.close(output)
    finish(running, 3 << 8, "exit code 3")
    running.journal.close()
    assert states(catalog) == {task.id: "queued"}
    move(home, task, "queued", "failed")
    assert states(catalog) == {task.id: "failed"}
    assert catalog.run(task.id).reason == "exit code 3"


def test_a_task_that_never_ran_says_why_it_failed(home: Home, catalog: Catalog) -> None:
    from paddock.queue.task import Attempt, render_attempt

    task = put(home)
    queue = find_queue("default", home)
    (place,) = queue.list().places
    note = Attempt(number=1, outcome="failed", exit="not run: its parent failed")
    queue.append(place, render_attempt(note, queue.read(place).fence))
    move(home, task, "queued", "failed")
    catalog.refresh()
    assert catalog.run(task.id).reason == "not run: its parent failed"


def test_a_queue_elsewhere_is_listed_too(home: Home, catalog: Catalog, tmp_path: Path) -> None:
    first = put(home, queue=tmp_path / "a" / "shared queue")
    second = put(home, queue=tmp_path / "b" / "default")
    third = put(home)
    assert states(catalog) == {task.id: "queued" for task in (first, second, third)}


def test_files_that_are_no_tasks_do_no_harm(home: Home, catalog: Catalog) -> None:
    task = put(home)
    directory = DirectoryQueue(home.queues / "default").directory("queued")
    (directory / "notes").write_text("buy milk\n")
    (directory / ".hidden").write_text("")
    (directory / "sub").mkdir()
    assert states(catalog) == {task.id: "queued"}


def test_only_what_is_new_is_read(home: Home, catalog: Catalog) -> None:
    tasks = [put(home) for _ in range(20)]
    assert len(states(catalog)) == 20
    directory = DirectoryQueue(home.queues / "default").directory("queued")
    for task in tasks:  # unreadable as tasks from here on, but known
        with open(directory / task.id, "w") as file:
            file.write("garbage")
    more = put(home)
    assert set(states(catalog)) == {more.id, *(task.id for task in tasks)}

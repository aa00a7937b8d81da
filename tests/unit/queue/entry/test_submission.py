"""What submission gives a task."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from paddock.errors import TimedOut, UsageError
from paddock.queue.entry.submission import Submitted, new_task_id, submit, submit_all
from paddock.record.layout import Home


def test_ids_sort_by_time_whatever_the_time_zone_of_who_submits(monkeypatch: pytest.MonkeyPatch) -> None:
    ids = []
    for zone in ("UTC", "Asia/Tokyo", "America/Los_Angeles", "XYZ-13", "XYZ+11"):
        monkeypatch.setenv("TZ", zone)
        time.tzset()
        ids.append(new_task_id())
    monkeypatch.undo()
    time.tzset()
    assert ids == sorted(ids)


def test_a_list_of_words_is_refused_by_what_it_is(home: Home) -> None:
    with pytest.raises(UsageError, match=r"The command is a list\. It is a text: submit\(shlex\.join\(words\)\)\."):
        submit(["python", "train.py"], home=home)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "call",
    [
        lambda queue: submit("echo", queue=queue, chk="test -f x", snapshot=False),
        lambda queue: submit(cmd="echo", queue=queue, chk="test -f x", snapshot=False),
        lambda queue: submit(queue, "echo", "test -f x", snapshot=False),
        lambda queue: submit(str(queue), "echo", chk="test -f x", snapshot=False),
        lambda queue: submit(queue, cmd="echo", chk="test -f x", snapshot=False),
        lambda queue: submit_all([{"cmd": "echo", "chk": "test -f x", "snapshot": False}], queue=queue)[0],
    ],
)
def test_queue_command_and_check_are_given_by_place_or_by_name(
    home: Home, tmp_path: Path, call: Callable[[Path], Submitted], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PADDOCK_HOME", str(home.path))
    made = call(tmp_path / "a queue")
    assert (made.task.command, made.task.check, made.queue) == ("echo", "test -f x", tmp_path / "a queue")
    assert made.state() == "queued"


@pytest.mark.parametrize("words", [("echo", "echo"), ("./q", "echo", "true")])
def test_two_commands_are_one_too_many(home: Home, words: tuple[str, ...]) -> None:
    with pytest.raises(UsageError, match="two commands"):
        submit(*words, cmd="echo", home=home)


@pytest.mark.parametrize("tasks", [["echo"], "echo", {"cmd": "echo"}, [{"command": "echo"}], [{}]])
def test_a_list_of_anything_but_tasks_is_refused_with_a_sentence(home: Home, tasks: Any) -> None:
    with pytest.raises(UsageError, match=r"submit_all\(\) takes a list of dicts"):
        submit_all(tasks, home=home)


def test_waiting_is_limited_by_any_time_span_which_the_error_repeats(home: Home) -> None:
    made = submit("echo", home=home, snapshot=False, timeout="200ms")
    assert made.task.timeout == 0.2
    for span, told in (("20ms", "20ms"), (0.02, "0.02 s")):
        with pytest.raises(TimedOut, match=f"is not over after {told}"):
            made.wait(span)


def test_what_is_none_was_not_given(home: Home) -> None:
    nothing: dict[str, Any] = dict.fromkeys(
        ("queue", "chk", "after", "priority", "gpus", "cpus", "mem", "timeout", "retries", "env", "name", "project")
    )
    nothing |= dict.fromkeys(("group", "config", "tags", "notes", "n_workers", "cwd", "engine"))
    task = submit("true", home=home, snapshot=False, **nothing).task
    plain = submit("true", home=home, snapshot=False).task
    assert (task.name, task.gpus, task.after, task.workers, task.cwd) == ("", 0, (), 1, plain.cwd)


def test_a_variable_without_a_value_is_refused_and_does_not_become_the_word_none(home: Home) -> None:
    with pytest.raises(UsageError, match="env: DATA is None"):
        submit("true", home=home, env={"DATA": None})


def test_what_was_submitted_shows_itself_on_one_line_and_says_what_the_task_says(home: Home) -> None:
    task = submit("true", home=home, name="try", config={"lr": 0.1}, priority=3, snapshot=False)
    assert (task.command, task.config, task.priority) == ("true", {"lr": 0.1}, 3)
    assert repr(task) == f"<task {task.id}  try in {task.where}>"
    with pytest.raises(AttributeError, match="has no 'comand'"):
        _ = task.comand


def test_a_mapping_is_no_list_of_what_to_wait_for(home: Home) -> None:
    one = submit("true", home=home, snapshot=False)
    with pytest.raises(UsageError, match=r"is no list of tasks.*failure:ID"):
        submit("true", home=home, after={"failure": one}, snapshot=False)

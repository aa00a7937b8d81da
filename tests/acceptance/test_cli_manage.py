"""paddock status, cancel, pause, resume, retry, rerun: on queues at rest, and under a worker that works."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from paddock.queue.directory import DirectoryQueue
from tests.acceptance.terminal import Terminal
from tests.waiting import until


def submit(program: Any, command: str, *options: str) -> str:
    found = program("submit", "--no-snapshot", "-q", *options, "--", command)
    assert found.code == 0, found.err
    return found.out.strip()


def names(program: Any, state: str, queue: str = "default") -> list[str]:
    return sorted(os.listdir(program.home / "queues" / queue / state))


def advances(path: Path) -> bool:
    before = path.stat().st_size if path.exists() else 0
    time.sleep(0.5)
    return path.exists() and path.stat().st_size > before


@pytest.fixture
def worker(program: Any) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    started: list[subprocess.Popen[str]] = []

    def begin(*options: str) -> subprocess.Popen[str]:
        started.append(program.start("worker", "--grace", "2s", *options))
        return started[-1]

    yield begin
    for process in started:
        process.terminate()
        process.communicate(timeout=60)


def test_status_counts_and_says_why_each_task_waits(program: Any) -> None:
    first = submit(program, "echo 1", "--name", "first")
    submit(program, "echo 2", "--after", first)
    submit(program, "echo 3", "--chk", "test -f ready")
    submit(program, "echo 4", "--gpus", "2", "--priority", "3")
    held = submit(program, "echo 5", "--name", "held")
    assert program("pause", "held").code == 0
    damaged = program.home / "queues/default/queued/20260101-000000-damaged"
    damaged.write_text("nothing of the kind")
    (program.home / "queues/default/queued/.note").write_text("")
    (program.home / "queues/default/queued/notes to self").write_text("")
    (found,) = program("status", "--json").json["queues"]
    assert found["counts"] == {"queued": 5, "checking": 0, "active": 0, "done": 0, "failed": 0, "paused": 1}
    whys = [(task["title"], task["why"]) for task in found["waiting"]]
    assert whys[0] == ("echo 4", "no worker")
    assert whys[1][1].startswith("20260101-000000-damaged is no task")
    assert ("echo 2", "after first, which is queued") in whys
    assert whys[-1] == ("held", "paused")
    assert found["strangers"] == ["queued/notes to self"]
    shown = program("status")
    assert held in shown.out and "No worker of default is alive" in shown.err


def test_a_task_that_needs_more_than_there_is_says_so(program: Any, worker: Any) -> None:
    worker()
    until(lambda: (program.home / "queues/default/workers").is_dir() and names(program, "workers"))
    submit(program, "echo", "--gpus", "2")
    submit(program, "echo", "--chk", "false")
    busy = submit(program, "sleep 1000", "--priority", "1", "--name", "busy")
    waits = submit(program, "echo")
    until(lambda: program("status", "-q").out.strip() == busy)
    (found,) = program("status", "-Q", "default", "--json").json["queues"]
    assert [task["why"] for task in found["waiting"]] == [
        "needs 2 GPUs; no worker has any",
        "its check has not succeeded yet: false",
        "the slot is busy",
    ]
    assert found["waiting"][-1]["id"] == waits
    (running,) = found["running"]
    assert (running["name"], running["attempt"], running["worker_state"]) == ("busy", 1, "alive")
    assert "busy" in program("status").out


def test_cancel_returns_when_every_process_is_gone_and_the_run_says_cancelled(
    program: Any, worker: Any, tmp_path: Path
) -> None:
    ticks = tmp_path / "ticks"
    task = submit(program, f"(while sleep 0.05; do echo x >> {ticks}; done) & wait", "--name", "endless")
    worker()
    until(lambda: advances(ticks))
    assert program("cancel", "endless").code == 0
    assert not advances(ticks)
    assert not any(names(program, state) for state in ("queued", "active", "paused", "done", "failed", ".cancelled"))
    (run,) = program("ls", "--json").json["runs"]
    assert (run["id"], run["state"], run["reason"]) == (task, "killed", "cancelled")


def test_a_task_is_stopped_and_goes_on_and_its_worker_knows(program: Any, worker: Any, tmp_path: Path) -> None:
    ticks = tmp_path / "ticks"
    submit(program, f"while sleep 0.05; do echo x >> {ticks}; done", "--name", "endless")
    worker()
    until(lambda: advances(ticks))
    assert program("pause", "endless").code == 0
    until(lambda: not advances(ticks))
    (found,) = program("status", "--json").json["queues"]
    assert found["waiting"][0]["why"].startswith("paused in attempt 1, stopped on ")
    assert program("resume", "endless").code == 0
    until(lambda: advances(ticks))
    assert program("pause", "endless").code == 0
    until(lambda: not advances(ticks))
    assert program("cancel", "--all", "--yes").code == 0
    assert names(program, "paused") == names(program, ".cancelled") == []


def test_a_retry_keeps_the_history_and_the_priority(program: Any) -> None:
    task = submit(program, "test -f made", "--priority", "7")
    program("worker", "--no-persist")
    assert names(program, "failed") == [task]
    (program.cwd / "made").write_text("")
    assert program("retry", task[:20]).code == 0
    assert names(program, "queued") == [f"{task}@7"]
    program("worker", "--no-persist")
    assert names(program, "done") == [task]
    assert program("rerun", task[-6:]).code == 0
    program("worker", "--no-persist")
    queue = DirectoryQueue(program.home / "queues/default")
    (place,) = queue.list(["done"]).places
    assert [(a.number, a.outcome) for a in queue.read(place).attempts] == [(1, "failed"), (2, "done"), (3, "done")]


def test_the_task_of_a_dead_worker_can_be_cancelled_when_nobody_else_is_there(program: Any, worker: Any) -> None:
    task = submit(program, "sleep 1000")
    process = worker()
    until((program.home / "runs" / task / "output/1.log").exists)  # a claim alone is no run yet
    process.kill()
    process.wait()
    (found,) = program("status", "--json").json["queues"]
    assert found["running"][0]["worker_state"] == "dead"
    assert "dead: " in program("status").out
    assert program("cancel", task).code == 0
    assert names(program, "active") == names(program, ".cancelled") == []
    (run,) = program("ls", "--json").json["runs"]
    assert (run["state"], run["reason"]) == ("killed", "cancelled")


def test_more_than_was_named_is_asked_for_and_the_answer_is_no(program: Any) -> None:
    for number in range(3):
        submit(program, f"echo {number}", "--name", f"train lr=0.{number}")
    refused = program("cancel", "--regex", "lr=0.[01]", stdin="\n")
    assert refused.code == 9 and "Cancel 2 tasks? [y/N]" in refused.err and "Nothing was changed" in refused.err
    assert "train lr=0.1" in refused.out and "lr=0.2" not in refused.out
    assert program("cancel", "--all", "--json").error["type"] == "Refused"
    assert len(names(program, "queued")) == 3
    assert program("cancel", "--regex", "lr=0.[01]", stdin="y\n").code == 0
    assert len(names(program, "queued")) == 1
    assert program("pause", "train lr=0.2", "--json").json["paused"][0]["now"] == "paused"


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (("cancel",), 2, "Which tasks?"),
        (("cancel", "nosuch"), 3, "no task 'nosuch' in the queue default."),
        (("cancel", "--regex"), 2, "`paddock cancel --help`"),
        (("tag", "--add"), 2, "`paddock tag --help`"),
        (("k8s", "run", "--image"), 2, "`paddock k8s run --help`"),
        (("watch", "--evaluator"), 2, "`paddock watch --help`"),
        (("cancel", "--regex", "("), 2, "cannot be read"),
        (("cancel", "--state", "done", "-y"), 3, "No task fits"),
        (("resume", "--all"), 3, "No task fits"),
        (("pause", "twin"), 4, "fits 2 tasks"),
        (("retry", "waits"), 9, "is queued"),
        (("rerun", "waits"), 9, "when its turn comes"),
        (("pause", "over"), 9, "`paddock rerun"),
        (("cancel", "waits", "-Q", "other"), 3, "There are: default."),
        (("cancel", "waits", "-Q", "./photos"), 2, "is no queue: it holds cat.jpg"),
        (("status", "-Q", "./photos"), 2, "is no queue"),
        (("cancel", "waits", "-Q", "a b"), 2, "cannot be a queue's name"),
    ],
)
def test_a_mistake_is_a_sentence_and_nothing_is_changed(
    program: Any, words: tuple[str, ...], code: int, says: str
) -> None:
    submit(program, "true", "--name", "over")
    program("worker", "--no-persist")
    for name in ("waits", "twin", "twin"):
        submit(program, "echo", "--name", name)
    (program.cwd / "photos").mkdir()
    (program.cwd / "photos" / "cat.jpg").write_text("")
    before = {state: names(program, state) for state in ("queued", "done")}
    found = program(*words)
    assert (found.code, says in found.err) == (code, True), found.err
    assert {state: names(program, state) for state in ("queued", "done")} == before


def test_a_queue_that_everybody_may_write_is_refused(program: Any) -> None:
    task = submit(program, "echo")
    os.chmod(program.home / "queues/default/queued", 0o777)
    found = program("cancel", task)
    assert (found.code, "chmod o-w" in found.err) == (9, True)
    assert names(program, "queued") == [task]


def test_an_id_that_is_in_another_queue_is_said_to_be_there(program: Any) -> None:
    other = submit(program, "echo")
    task = submit(program, "echo", "-Q", "gpu")
    for words in (["-Q", "default", task], [other, task]):
        found = program("cancel", *words)
        assert (found.code, "add -Q gpu" in found.err) == (3, True)


def test_a_task_is_found_by_its_id_whichever_queue_it_is_in(program: Any) -> None:
    task = submit(program, "true", "-Q", "gpu")  # there is no usual queue at all
    for words in (["pause", task], ["resume", task], ["priority", "3", task], ["move", task, "--to", "night"]):
        assert program(*words).code == 0, words
    submit(program, "true")
    assert program("worker", "night", "--no-persist").code == 0
    assert program("wait", "-q", task).code == 0
    assert program("rerun", task).code == 0
    assert program("cancel", task).code == 0


def test_priority_is_in_the_name_and_may_be_negative(program: Any) -> None:
    task = submit(program, "echo", "--name", "one")
    assert program("priority", "10", "one").code == 0
    assert names(program, "queued") == [f"{task}@10"]
    assert program("priority", "-3", "one").code == 0
    assert names(program, "queued") == [f"{task}@-3"]
    assert program("priority", "0", "one", "--json").json["priority"][0]["id"] == task
    assert names(program, "queued") == [task]


def test_move_takes_the_history_along_and_parts_no_dependents(program: Any) -> None:
    failed = submit(program, "false", "--name", "failed")
    program("worker", "--no-persist")
    first = submit(program, "true", "--priority", "2", "--name", "first")
    second = submit(program, "true", "--after", first, "--name", "second")
    for one, other in (("first", second), ("second", first)):
        refused = program("move", one, "--to", "gpu")
        assert (refused.code, f"Move {other} too" in refused.err) == (9, True)
    assert program("move", "first", "second", "failed", "--to", "gpu").code == 0
    assert names(program, "queued") == names(program, "failed") == names(program, "paused") == []
    assert names(program, "queued", "gpu") == sorted([f"{first}@2", second])
    assert names(program, "failed", "gpu") == [failed]
    program("worker", "gpu", "--no-persist")
    assert names(program, "done", "gpu") == sorted([first, second])
    assert program("move", "first", "--to", "gpu", "-Q", "gpu").code == 2


def test_move_leaves_behind_what_a_task_need_not_wait_for_any_more(program: Any) -> None:
    done = submit(program, "true", "--name", "done")
    program("worker", "--no-persist")
    task = submit(program, "true", "--after", done, "--name", "next")
    before = _file(program, "queued", task).read_text()
    assert program("move", "next", "--to", "gpu").code == 0
    after = _file(program, "queued", task, "gpu").read_text()
    assert after == before.replace(f'after: ["success:{done}"]\n', "") != before
    program("worker", "gpu", "--no-persist")
    assert names(program, "done", "gpu") == [task]


def _file(program: Any, state: str, task: str, queue: str = "default") -> Path:
    return program.home / "queues" / queue / state / task


def test_wait_says_by_its_exit_code_what_became_of_them(program: Any, worker: Any) -> None:
    good, bad = submit(program, "sleep 0.5", "--name", "good"), submit(program, "false", "--name", "bad")
    found = program("wait", "--timeout", "0.2s", "--json")
    assert (found.code, found.json["over"]) == (11, 0)
    worker()
    assert program("wait", "good").out == f"done    {good}  good\n"
    found = program("wait", "good", "bad", "--json")
    assert found.code == 10
    assert {task["id"]: task["state"] for task in found.json["tasks"]} == {good: "done", bad: "failed"}
    assert program("wait").code == 0
    endless = submit(program, "sleep 1000", "--name", "endless")
    process = program.start("wait", "good", "endless")
    assert process.stdout.readline() == f"done    {good}  good\n"  # by now it knows which they are
    until(lambda: program("status", "-q").out.strip() == endless)
    assert program("cancel", "endless").code == 0
    out, _ = process.communicate(timeout=60)
    assert (process.returncode, out) == (10, f"gone    {endless}  endless\n")


def test_a_worker_is_listed_and_stopped_and_gives_its_task_back(program: Any, worker: Any) -> None:
    task = submit(program, "sleep 1000", "--name", "long")
    process = worker("--slots", "3")
    until(lambda: names(program, "active"))
    (found,) = program("workers", "--json").json["workers"]
    assert (found["state"], found["slots"], [one["id"] for one in found["tasks"]]) == ("alive", 3, [task])
    assert "long" in program("workers").out
    assert program("workers", "--stop", "nosuch").code == 3
    assert program("workers", "--stop", found["worker"][:-2]).code == 0
    assert process.wait(timeout=60) == 0
    assert names(program, "queued") == [task] and names(program, "workers") == []


def test_clean_asks_and_keeps_what_others_wait_for(program: Any) -> None:
    done, wanted = submit(program, "true", "--name", "done"), submit(program, "true", "--name", "wanted")
    program("worker", "--no-persist")
    submit(program, "true", "--after", wanted)
    queue = program.home / "queues/default"
    (queue / ".submit" / "half").write_text("")
    os.utime(queue / ".submit" / "half", (0, 0))
    (queue / ".submit" / "fresh").write_text("")
    assert "done" not in program("clean", "--yes").out  # too young
    assert not (queue / ".submit" / "half").exists() and (queue / ".submit" / "fresh").exists()
    refused = program("clean", "--older-than", "0", stdin="\n")
    assert (refused.code, "Remove 1 task? [y/N]" in refused.err, wanted in refused.out) == (9, True, False)
    assert program("clean", "--older-than", "0", "--dry-run", "--json").json["kept"][0]["id"] == wanted
    assert program("clean", "wanted").code == 9
    assert program("clean", "--older-than", "0", stdin="y\n").code == 0
    assert names(program, "done") == [wanted]
    assert program("show", done).code == 0  # the run stays


def test_a_worker_tells_of_failures_and_of_a_drained_queue_and_its_tasks_see_no_secret(program: Any) -> None:
    told = program.cwd / "told"
    (program.cwd / "paddock.toml").write_text(f'[notify]\ncommand = "cat >> {told}"\n')
    bad, good = submit(program, "exit 3", "--name", "bad"), submit(program, "env", "--name", "good")
    submit(program, "true", "--retries", "1", "--after", bad)
    assert program("worker", "--no-persist", env={"PADDOCK_NOTIFY_PASSWORD": "hunter2"}).code == 0
    found = [json.loads(line) for line in told.read_text().splitlines()]
    assert [one["event"] for one in found] == ["failed", "failed", "drained"]
    assert (found[0]["task"], found[0]["exit"]) == (bad, "exit code 3")
    assert found[1]["exit"] == f"not run: {bad} failed" and found[2]["failed"] == 2
    assert "hunter2" not in program("logs", good).out and "hunter2" not in told.read_text()
    (program.cwd / "paddock.toml").write_text("[notify]\ncomand = 3\n")
    refused = program("worker", "--no-persist")
    assert (refused.code, "Did you mean 'command'?" in refused.err) == (2, True)


def test_cancel_says_who_waits_for_what_is_cancelled(program: Any) -> None:
    parent = submit(program, "true", "--name", "parent")
    submit(program, "true", "--after", parent, "--name", "child")
    found = program("cancel", "parent")
    assert found.code == 0 and "1 task waits for what is cancelled, and will fail: child." in found.err


def test_a_worker_leaves_and_wait_ends_although_files_lie_there_that_are_no_tasks(program: Any) -> None:
    task = submit(program, "true")
    queued = program.home / "queues/default/queued"
    (queued / "notes.txt").write_text("nothing of the kind")
    (queued / "shortcut").symlink_to("/etc/passwd")
    found = program("worker", "--no-persist")
    assert found.code == 0
    assert "queued/shortcut: is no plain file, and is left alone" in found.err
    assert names(program, "done") == [task]
    found = program("wait", "--timeout", "20s")
    assert found.code == 0, found.err
    assert "queued/notes.txt is not waited for: notes.txt is no task" in found.err
    assert names(program, "queued") == ["notes.txt", "shortcut"]


@pytest.mark.parametrize("layout", ["", "tasks"])
def test_what_a_worker_of_roach_may_run_is_left_alone_and_how_to_free_it_is_said(program: Any, layout: str) -> None:
    queue = program.cwd / "old queue"
    base = queue / layout
    for state in ("queued", "checking", "active", "done", "failed", "paused"):
        (base / state).mkdir(parents=True)
    (base / "active/t1").write_text("true\n---\necho hello\n=== host:99 ===\n")
    (base / "queued/t2").write_text("true\n---\n")  # half of it is yet to be written
    found = program("status", "-Q", "./old queue")
    assert "a worker of roach's may run it" in found.err and "a live worker takes over" not in found.err
    assert "could be read" not in found.err  # all of it was
    assert program("worker", "--no-persist", "./old queue").code == 0
    assert (base / "active/t1").exists() and "t2 has no command yet" in program("status", "-Q", "./old queue").out
    (base / "queued/t2").unlink()
    advice = next(line for line in found.err.splitlines() if "If none does: " in line)
    subprocess.run(["/bin/sh", "-c", advice.partition("If none does: ")[2]], check=True)
    assert program("worker", "--no-persist", "./old queue").code == 0
    assert (base / "done/t1").exists()


def test_on_a_terminal_wait_says_what_it_waits_for(program: Any) -> None:
    submit(program, "true")
    submit(program, "true")
    assert program("pause", "--all", "--yes").code == 0
    task = submit(program, "true")
    terminal = Terminal(program, 100, 30, "wait", "--timeout", "200ms")
    try:
        assert terminal.process.wait(60) == 11
        until(lambda: "3 tasks not over yet" in terminal.text)
        assert "Waiting for 3 tasks: 1 queued, 2 paused. Ctrl-C ends the waiting, not the tasks." in terminal.text
        assert "No worker is alive" in terminal.text
    finally:
        terminal.close()
    assert "Waiting for" not in program("wait", task, "--timeout", "0").err

"""Submit and work from the command line, as a person does."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest


def _work(program: Any, *options: str) -> None:
    found = program("worker", "--no-persist", "--grace", "2s", *options)
    assert found.code == 0, found.err
    assert "\\n" not in found.err  # each of its lines is one


def _file(program: Any, state: str, task: str, queue: str = "default") -> Path:
    return program.home / "queues" / queue / state / task


def test_a_submitted_command_runs_and_its_check_then_succeeds(program: Any) -> None:
    submitted = program("submit", "--no-snapshot", "--", "echo", "it's $HOME; done")
    check = submitted.out.strip()
    assert subprocess.run(["/bin/sh", "-c", check]).returncode != 0
    _work(program)
    assert subprocess.run(["/bin/sh", "-c", check]).returncode == 0
    (task,) = os.listdir(program.home / "queues/default/done")
    assert program("logs", task).out == "it's $HOME; done\n"


def test_a_check_that_is_printed_makes_another_task_wait(program: Any) -> None:
    first = program("submit", "--no-snapshot", "--name", "first", "sleep 0.2; touch made")
    second = program("submit", "--no-snapshot", "--chk", first.out.strip(), "--", "ls", "made")
    assert second.code == 0
    _work(program, "--slots", "2")
    assert len(os.listdir(program.home / "queues/default/done")) == 2


def test_a_sweep_is_one_task_for_each_combination_with_its_config(program: Any) -> None:
    words = ("submit", "--no-snapshot", "--grid", "lr=1e-3,1e-4", "--grid", "seed=0..1", "--", "echo", "{lr}/{seed}")
    assert len(program(*words).out.split("&&")) == 4
    _work(program)
    runs = program("ls", "--json").json["runs"]
    assert sorted((run["config"]["lr"], run["config"]["seed"]) for run in runs) == [
        (0.0001, 0),
        (0.0001, 1),
        (0.001, 0),
        (0.001, 1),
    ]
    assert {run["state"] for run in runs} == {"finished"}
    ids = sorted(run["id"] for run in runs)
    again = program(*words[:1], "--skip-existing", "--json", *words[1:]).json
    assert again["tasks"] == [] and sorted(one["id"] for one in again["existing"]) == ids
    more = tuple(word.replace("0..1", "0..2") for word in words[1:])
    assert len(program("submit", "--skip-existing", "--json", *more).json["tasks"]) == 2


def test_what_a_script_adds_to_its_config_does_not_make_it_another_task(program: Any) -> None:
    (program.cwd / "train.py").write_text(
        "import paddock\npaddock.init(config={'lr': 1.0, 'epochs': 3}, project='mine')\n"
    )
    words = ("submit", "--skip-existing", "--no-snapshot", "-q", "--grid", "lr=1,2", "--", sys.executable, "train.py")
    ids = program(*words).out
    assert len(ids.split()) == 2
    assert program(*words).out == ids  # queued
    _work(program)
    assert program(*words).out == ids  # finished, with another config and project by now
    assert len(program("ls", "-q").out.split()) == 2
    elsewhere = program.cwd / "elsewhere"
    elsewhere.mkdir()
    assert len(program("submit", "--cwd", "elsewhere", *words[1:]).out.split()) == 2
    assert len(program("submit", "--project", "other", *words[1:]).out.split()) == 2


def test_the_check_of_what_was_left_out_is_that_of_the_task_that_is_there(program: Any) -> None:
    words = ("submit", "--skip-existing", "--no-snapshot", "--grid", "seed=0..1", "--", "touch", "made{seed}")
    check = program(*words).out.strip()
    again = program(*words)
    assert again.out.strip() == check and "2 tasks left out: there already." in again.err
    more = program(*(word.replace("0..1", "2,0,1") for word in words))
    parts, old = more.out.strip().split(" && "), check.split(" && ")
    assert len(parts) == 3 and parts[1:] == old  # in the order of the sweep
    last = program(
        "submit", "--no-snapshot", "-q", "--chk", more.out.strip(), "--", "ls", "made0", "made1", "made2"
    ).out
    waits = {one["id"]: one["why"] for one in program("status", "--json").json["queues"][0]["waiting"]}
    assert waits[last.strip()].startswith("after ")
    _work(program, "--slots", "2")
    assert len(os.listdir(program.home / "queues/default/done")) == 4
    assert subprocess.run(["/bin/sh", "-c", program(*words).out]).returncode == 0
    assert program("clean", "--yes", "--older-than", "0s").code == 0
    assert os.listdir(program.home / "queues/default/done") == []
    assert program(*words).out == "true\n"  # finished, and in no queue any more


def test_what_runs_and_is_in_no_queue_that_is_known_is_waited_for_as_well(program: Any, write: Any) -> None:
    about = {"command": ["/bin/sh", "-c", "exit 3"], "cwd": str(program.cwd), "project": program.cwd.name}
    runs, over = "20260101-000000-000000-aaaa", "20260101-000001-000000-bbbb"
    write(runs, running=True, **about)
    words = ("submit", "--skip-existing", "--no-snapshot", "--", "exit 3")
    check = program(*words).out.replace("paddock", shlex.join([sys.executable, "-m", "paddock"]), 1)
    assert subprocess.run(["/bin/sh", "-c", check], env=program.environment).returncode == 1
    write(over, **about)
    assert subprocess.run(["/bin/sh", "-c", check.replace(runs, over)], env=program.environment).returncode == 0
    assert program(*words).out == "true\n"  # the newer one counts


def test_nobody_waits_for_tasks_that_were_edited_to_wait_for_each_other(program: Any) -> None:
    first = program("submit", "--no-snapshot", "-q", "--name", "first", "--", "true").out.strip()
    second = program("submit", "--no-snapshot", "-q", "--name", "second", "--after", first, "--", "true").out.strip()
    path = _file(program, "queued", first)
    path.write_text(path.read_text().replace("name: first\n", f'name: first\nafter: ["{second}"]\n'))
    waiting = program("status", "--json").json["queues"][0]["waiting"]
    assert {one["why"] for one in waiting} == {
        "waits for ever: for second, which waits for it",
        "waits for ever: for first, which waits for it",
    }
    found = program("worker", "--no-persist")
    assert found.code == 0 and "waits for ever" in found.err
    path.write_text(path.read_text().replace(f'after: ["{second}"]\n', ""))
    _work(program)
    assert sorted(os.listdir(program.home / "queues/default/done")) == [first, second]


def test_a_slip_in_a_placeholder_is_told(program: Any) -> None:
    words = ("submit", "--no-snapshot", "--grid", "seed=0,1", "--", "echo", "{seed}", "{sed}")
    said = program(*words).err
    assert "{sed} is none of --grid" in said and "{seed}?" in said


def test_what_nobody_named_is_announced_by_its_command(program: Any) -> None:
    found = program("submit", "--no-snapshot", "--", "echo", "hello")
    assert found.err.startswith("echo hello (20")


def test_a_command_with_bytes_that_are_no_text_is_listed_and_runs(program: Any) -> None:
    task = program("submit", "--no-snapshot", "-q", "--", "printf", os.fsdecode(b"\xff")).out.strip()
    assert [run["state"] for run in program("ls", "--json").json["runs"]] == ["queued"]
    assert program("show", task).code == 0
    _work(program)
    assert (program.home / "runs" / task / "output/1.log").read_bytes() == b"\xff"


def test_a_command_of_many_lines_comes_from_stdin(program: Any) -> None:
    process = program.start("submit", "--no-snapshot", "-q", "-")
    task, _ = process.communicate("echo one\n---\n==== command\necho two\n")
    _work(program)
    file = _file(program, "done", task.strip())
    output = program("logs", task.strip()).out
    assert (output.startswith("one\n"), output.endswith("two\n")) == (True, True)
    assert "echo one\n---\n==== command\necho two\n" in file.read_text()


def test_the_code_is_frozen_at_submit(program: Any) -> None:
    script = program.cwd / "say.sh"
    script.write_text("echo before\n")
    task = program("submit", "-q", "--", "sh", "say.sh").out.strip()
    script.write_text("echo after\n")
    _work(program)
    assert program("logs", task).out == "before\n"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--grid", "lr", "--", "echo"), "no grid"),
        (("--after", " ", "--", "echo"), "no dependency"),
        (("--mem", "much", "--", "echo"), "no amount of memory"),
        (("--timeout", "soon", "--", "echo"), "no time span"),
        (("--env", "X", "--", "echo"), "KEY=VALUE"),
        (("-Q", "a b", "--", "echo"), "cannot be a queue's name"),
        (("--gpus", "-1", "--", "echo"), "no count"),
        (("  ",), "no command"),
    ],
)
def test_a_mistake_is_a_sentence_and_nothing_is_queued(program: Any, words: tuple[str, ...], says: str) -> None:
    found = program("submit", "--no-snapshot", *words)
    assert found.code == 2
    assert says in found.err
    assert not list(program.home.glob("queues/*/queued/*"))


@pytest.mark.parametrize(
    "words",
    [
        ("submit", "--timeout", "SPAN", "--", "echo"),
        ("wait", "--timeout", "SPAN"),
        ("worker", "--until", "SPAN"),
        ("worker", "--grace", "SPAN"),
        ("status", "--every", "SPAN"),
        ("clean", "--older-than", "SPAN"),
        ("top", "--interval", "SPAN"),
        ("watch", ".", "--quiet-time", "SPAN"),
    ],
)
def test_a_time_that_cannot_be_read_names_its_option_and_the_forms(program: Any, words: tuple[str, ...]) -> None:
    found = program(*(word.replace("SPAN", "1h30") for word in words))
    assert found.code == 2
    option = next(word for word in words if word.startswith("--"))
    for part in (option, "'1h30' is no time span", "200ms", "1.5h", "1h30m", "4:00:00", "1-00:00:00"):
        assert part in found.err


def test_a_task_and_a_worker_are_limited_in_milliseconds(program: Any) -> None:
    task = program("submit", "-q", "--no-snapshot", "--timeout", "200ms", "--", "sleep", "1000").out.strip()
    _work(program)
    assert "timed out" in _file(program, "failed", task).read_text()
    assert program("worker", "--until", "200ms").code == 0  # it would stay for ever
    program("submit", "-q", "--no-snapshot", "--", "true")
    assert program("wait", "--timeout", "200ms").code == 11


def test_a_directory_that_is_no_queue_is_refused(program: Any) -> None:
    (program.cwd / "photos").mkdir()
    (program.cwd / "photos" / "cat.jpg").write_text("")
    found = program("submit", "--no-snapshot", "-Q", "./photos", "--", "echo")
    assert (found.code, "is no queue" in found.err) == (2, True)
    assert os.listdir(program.cwd / "photos") == ["cat.jpg"]


def test_a_queue_that_everybody_may_write_is_refused(program: Any) -> None:
    program("submit", "--no-snapshot", "--", "echo")
    os.chmod(program.home / "queues/default/queued", 0o777)
    found = program("worker", "--no-persist")
    assert found.code != 0
    assert "chmod o-w" in found.err


def test_a_queue_may_be_any_directory_even_with_a_space_in_its_name(program: Any) -> None:
    check = program("submit", "--no-snapshot", "-Q", "./my queue", "--", "echo").out.strip()
    _work(program, "./my queue")
    assert subprocess.run(["/bin/sh", "-c", check], cwd="/").returncode == 0


def test_a_script_inside_a_task_joins_its_run_and_keeps_the_code_of_its_submission(program: Any) -> None:
    (program.cwd / "train.py").write_text("import paddock\nrun = paddock.init()\nrun.log({'loss': 0.5})\n")
    submitted = program("submit", "-q", "--config", "lr=0.1", "--", sys.executable, "train.py").out.strip()
    before = program("show", submitted, "--json").json["run"]
    _work(program)
    (run,) = program("ls", "--json").json["runs"]
    assert (run["id"], run["state"], run["metrics"]["loss"]["last"]) == (submitted, "finished", 0.5)
    assert run["code"] and run["code"] == before["code"]
    assert run["config"] == {"lr": 0.1}


_SAYS = (
    "import paddock\n"
    "paddock.init(project='digits', name='mine', group='first', job_type='train', tags=['fast'], notes='try')\n"
)


def _about(program: Any, task: str) -> dict[str, Any]:
    run = program("show", task, "--json").json["run"]
    return {key: run[key] for key in ("project", "name", "group", "job_type", "tags", "notes")}


def test_what_a_script_says_of_itself_holds_where_the_submission_said_nothing(program: Any) -> None:
    (program.cwd / "train.py").write_text(_SAYS)
    python = (sys.executable, "train.py")
    open_ = program("submit", "-q", "--no-snapshot", "--", *python).out.strip()
    told = ("--project", "sweep", "--name", "lr=1", "--group", "lrs", "--notes", "why", "--tag", "slow")
    said = program("submit", "-q", "--no-snapshot", *told, "--", *python).out.strip()
    assert _about(program, open_)["name"] == f"{sys.executable} train.py"[:60]  # until the script says its name
    _work(program)
    assert program("rerun", open_, "-y").code == 0
    _work(program)  # what one attempt has said holds in the next one, which says it again
    script = {"project": "digits", "name": "mine", "group": "first", "job_type": "train", "tags": ["fast"]}
    assert _about(program, open_) == {**script, "notes": "try"}
    kept = {"project": "sweep", "name": "lr=1", "group": "lrs", "job_type": "train", "tags": ["slow", "fast"]}
    found = _about(program, said)
    assert found | {"tags": set(found["tags"])} == {**kept, "notes": "why", "tags": {"slow", "fast"}}
    assert [run["id"] for run in program("ls", "project=digits group=first", "--json").json["runs"]] == [open_]


def test_the_project_of_the_settings_is_that_of_tasks_that_name_none(program: Any) -> None:
    (program.cwd / "train.py").write_text("import paddock\npaddock.init()\n")
    submitted = {"PADDOCK_PROJECT": "digits"}
    words = ("submit", "-q", "--no-snapshot", "--skip-existing", "--", sys.executable, "train.py")
    task = program(*words, env=submitted).out.strip()
    assert program(*words, env=submitted).out.strip() == task
    assert program("worker", "--no-persist", env={"PADDOCK_PROJECT": "of-the-worker"}).code == 0
    assert _about(program, task)["project"] == "digits"


def test_a_script_that_never_heard_of_paddock_gets_its_end_and_its_usage_recorded(program: Any) -> None:
    busy = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; exit 3"
    task = program("submit", "--no-snapshot", "-q", "--", "sh", "-c", busy)
    _work(program)
    found = program("show", task.out.strip(), "--json").json
    assert (found["run"]["state"], found["run"]["reason"]) == ("failed", "exit code 3")
    (end,) = found["records"]["exit"]
    assert (end["code"], end["seconds"] > 0, end["processor_seconds"] > 0) == (3, True, True)


def test_a_task_is_named_by_the_end_of_its_id_too(program: Any) -> None:
    task = program("submit", "--no-snapshot", "-q", "--", "true").out.strip()
    assert program("show", task[-4:], "-q").out.strip() == task


@pytest.mark.parametrize("layout", ["", "tasks"])
def test_a_queue_of_roach_is_worked_on_in_place_in_the_workers_directory(program: Any, layout: str) -> None:
    queue = program.cwd / "old queue"
    states = queue / layout
    for state in ("queued", "checking", "active", "done", "failed", "paused"):
        (states / state).mkdir(parents=True)
    (program.cwd / "data.txt").write_text("forty-two\n")
    (states / "queued" / "2024-01-02_03-04-05").write_text("test -f data.txt\n---\ncat data.txt\n")
    (states / "queued" / "2024-01-02_03-04-06").write_text(
        f"test -f '{states}/done/2024-01-02_03-04-05'\n---\ncat data.txt\nexit 1\n=== worker 7 ===\nolder output\n"
    )
    _work(program, "./old queue")
    assert os.listdir(states / "done") == ["2024-01-02_03-04-05"]
    assert os.listdir(states / "failed") == ["2024-01-02_03-04-06"]
    assert "forty-two" in (states / "done" / "2024-01-02_03-04-05").read_text()
    text = (states / "failed" / "2024-01-02_03-04-06").read_text()
    assert "older output" in text and "exit code 1" in text


def test_a_task_waits_for_another_by_name_or_part_of_its_id_also_across_queues(program: Any) -> None:
    first = program("submit", "--no-snapshot", "-q", "--name", "the first", "--", "touch", "made").out.strip()
    program("submit", "--no-snapshot", "--after", "the first", "--", "ls", "made")
    program("submit", "--no-snapshot", "--after", f"any:{first[-4:]}", "--", "ls", "made")
    other = program("submit", "--no-snapshot", "-Q", "other", "--after", first, "--", "ls", "made")
    assert other.code == 0, other.err
    _work(program, "default", "other")
    done = [os.listdir(program.home / "queues" / queue / "done") for queue in ("default", "other")]
    assert [len(names) for names in done] == [3, 1]


def test_a_task_that_waits_for_nothing_that_exists_is_refused(program: Any) -> None:
    found = program("submit", "--no-snapshot", "--after", "nobody", "--", "ls")
    assert (found.code, "no task 'nobody'" in found.err) == (3, True)


def test_the_failure_of_a_task_in_another_queue_cannot_be_waited_for(program: Any) -> None:
    program("submit", "--no-snapshot", "--name", "first", "--", "true")
    found = program("submit", "--no-snapshot", "-Q", "other", "--after", "failure:first", "--", "ls")
    assert (found.code, "same queue" in found.err) == (2, True)


def test_a_task_that_needs_more_than_a_worker_has_waits_and_the_status_says_for_what(program: Any) -> None:
    program("submit", "--no-snapshot", "--cpus", "4", "--name", "wide", "--", "true")
    program("submit", "--no-snapshot", "--mem", "8G", "--name", "big", "--", "true")
    program("submit", "--no-snapshot", "--cpus", "2", "--mem", "1G", "--name", "small", "--", "true")
    worker = program.start("worker", "--cpus", "2", "--mem", "4G", "--slots", "4")
    try:
        done = program.home / "queues/default/done"
        deadline = time.monotonic() + 60
        while not os.listdir(done):
            assert time.monotonic() < deadline and worker.poll() is None
            time.sleep(0.05)
        waiting = program("status", "--json").json["queues"][0]["waiting"]
    finally:
        worker.terminate()
        worker.communicate(timeout=60)
    why = {task["name"]: task["why"] for task in waiting}
    assert why == {
        "wide": "needs 4 cores; the most that a worker has is 2",
        "big": "needs 8 GB of memory; the most that a worker has is 4",
    }


def test_a_path_that_leads_out_of_the_frozen_code_is_named_at_submit(program: Any) -> None:
    (program.cwd / "train.py").write_text("print(1)")
    (program.cwd / "../data.csv").write_text("1")
    (program.cwd / "sub").mkdir()
    command = "python train.py --data=../data.csv --same sub/../train.py --word ../none"
    said = program("submit", "--name", "it", "--", command).err
    assert "../data.csv is not in the code that was frozen" in said
    assert "sub/.." not in said and "../none" not in said
    assert "frozen" not in program("submit", "--no-snapshot", "--", command).err


def test_a_script_on_stdin_is_run_by_the_interpreter_that_it_names_whatever_its_line_ends(program: Any) -> None:
    scripts = {
        f"#!{sys.executable} -u\nimport os\nprint(os.getcwd())\n": f"{program.cwd}\n",
        "echo one\r\nif true; then\r\necho two\r\nfi\r\n": "one\ntwo\n",
        '#!/usr/bin/env sh\r\necho "$PADDOCK_ATTEMPT"\r\nexit 0\r\n': "1\n",
    }
    tasks = [program("submit", "--no-snapshot", "-q", "-", stdin=text).out.strip() for text in scripts]
    wrong = program("submit", "--no-snapshot", "-q", "-", stdin="#!/nosuch/shell\ntrue\n").out.strip()
    program("worker", "--no-persist")
    assert [program("logs", task).out for task in tasks] == list(scripts.values())
    assert "/nosuch/shell" in program("logs", wrong).out
    assert "exit: exit code 127" in (program.home / "queues/default/failed" / wrong).read_text()

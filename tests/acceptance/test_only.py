"""python -m paddock.cli.only: a worker for one task, as the scripts of engines call it."""

from __future__ import annotations

import subprocess
import sys
from typing import Any


def only(program: Any, task: str, *words: str, python: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    home = program.environment["PADDOCK_HOME"]
    call = [sys.executable, *python, "-m", "paddock.cli.only", home, f"{home}/queues/default", task, *words]
    return subprocess.run(call, env=program.environment, cwd=program.cwd, capture_output=True, text=True, timeout=120)


def submit(program: Any, command: str, *options: str) -> str:
    found = program("submit", "-q", "--no-snapshot", *options, "--", command)
    assert found.code == 0, found.err
    return str(found.out.strip())


def test_its_exit_code_says_what_became_of_the_task(program: Any) -> None:
    good, bad, other = submit(program, "true"), submit(program, "exit 3"), submit(program, "true")
    assert only(program, good).returncode == 0
    assert only(program, bad, "--grace=2").returncode == 10
    assert only(program, good).returncode == 0  # over already: no concern of the engine
    states = {task["id"]: task["state"] for task in program("ls", "--json").json["runs"]}
    assert (states[good], states[bad]) == ("finished", "failed")
    assert states[other] == "queued"  # it takes no other


def test_a_task_of_several_ranks_has_them_all_in_one_job(program: Any) -> None:
    task = submit(program, "echo $RANK >> ranks", "--workers", "2")
    assert only(program, task, "--slots=2").returncode == 0
    assert sorted((program.cwd / "ranks").read_text().split()) == ["0", "1"]


def test_what_it_does_not_understand_is_a_sentence(program: Any) -> None:
    for words in ((), ("--grace=soon",), ("--colour=1",)):
        found = only(program, "", *words)
        assert found.returncode == 2 or words == ()
        assert "Traceback" not in found.stderr


def test_it_imports_no_more_than_a_task_of_one_rank_needs(program: Any) -> None:
    task = submit(program, "true")
    found = only(program, task, python=("-X", "importtime"))
    assert found.returncode == 0
    imported = {line.rpartition("|")[2].strip() for line in found.stderr.splitlines() if line.startswith("import time")}
    assert "paddock.work.worker" in imported
    unwanted = {"click", "rich", "http.client", "paddock.work.ensemble.gangs", "paddock.compare.select", "tomllib"}
    assert not unwanted & imported

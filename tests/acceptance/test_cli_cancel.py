"""Cancel against a live worker, from the command line."""

from __future__ import annotations

import os
import time
from typing import Any


def test_a_running_task_is_cancelled_and_its_worker_goes_on(program: Any) -> None:
    program("submit", "--no-snapshot", "--name", "long", "--", "sleep", "600")
    worker = program.start("worker", "--grace", "1s")
    try:
        active = program.home / "queues/default/active"
        while not os.listdir(active):
            time.sleep(0.05)
            assert worker.poll() is None
        assert program("cancel", "long").code == 0
        check = program("submit", "--no-snapshot", "--", "true").out.strip()
        deadline = time.monotonic() + 60
        while os.system(check) != 0:
            assert worker.poll() is None, worker.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.05)
    finally:
        worker.terminate()
        worker.communicate(timeout=60)
    assert worker.returncode == 0
    states = {run["name"]: (run["state"], run["reason"]) for run in program("ls", "--json").json["runs"]}
    assert states["long"] == ("killed", "cancelled")


def test_a_run_that_no_queue_started_is_told_apart_from_a_mistyped_task(program: Any, write: Any) -> None:
    program("submit", "--no-snapshot", "--", "true")  # so that there is a queue to look into
    write("direct", name="mine", running=True)
    said = program("cancel", "mine")
    assert said.code == 3 and "no queue started" in said.err
    assert "no queue started" not in program("cancel", "nobodys").err


def test_a_name_that_is_in_another_queue_is_found_there(program: Any) -> None:
    program("submit", "--no-snapshot", "-Q", "night", "--name", "late", "--", "true")
    program("submit", "--no-snapshot", "--name", "soon", "--", "true")
    said = program("cancel", "late", "-Q", "default")
    assert said.code == 3 and "add -Q night" in said.err

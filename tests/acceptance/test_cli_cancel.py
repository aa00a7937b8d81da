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

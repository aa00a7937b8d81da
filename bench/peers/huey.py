"""huey on SQLite: its consumer with worker processes, everything else as it comes."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.processes import started, wait_until
from bench.taskqueue import Client, TaskQueue

POLL_SECONDS = 0.02  # every look takes a lock of the database


class Huey(TaskQueue):
    name = "huey sqlite"
    distribution = "huey"
    runs_functions = True

    @contextlib.contextmanager
    def serving(self, home: Path, workers: int) -> Iterator[Client]:
        os.environ["BENCH_HUEY"] = str(home / "huey.db")
        program = Path(sys.executable).with_name("huey_consumer")
        with contextlib.ExitStack() as stack:
            if workers:
                sizes = ["--workers", str(workers), "--worker-type", "process", "--quiet"]
                stack.enter_context(started([program, "bench.tasks.huey_app.queue", *sizes], home))
            yield Submitter()


class Submitter:
    def __init__(self) -> None:
        from bench.tasks import huey_app

        self.app: Any = huey_app

    def submit(self, count: int, task: str = "nothing") -> None:
        call = getattr(self.app, task)
        for _ in range(count):
            call()

    def tell(self, pipe: Path, hold: Path | None = None) -> None:
        self.app.tell(os.fspath(pipe), os.fspath(hold or ""))

    def wait(self) -> None:
        """Until the last task was taken: it stores no result of a function that returns nothing, so the end of the
        last two cannot be seen, and is not counted."""
        wait_until(lambda: self.app.queue.pending_count() == 0, "huey's queue is empty", every=POLL_SECONDS)


SYSTEMS = (Huey(),)

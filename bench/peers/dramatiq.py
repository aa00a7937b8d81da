"""dramatiq on a real Redis: worker processes of one thread each, so that as many tasks run at once as elsewhere."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench import redisserver
from bench.processes import started, wait_until
from bench.taskqueue import Client, TaskQueue


class Dramatiq(TaskQueue):
    name = "dramatiq"
    distribution = "dramatiq"
    runs_functions = True
    prefetch = 2  # for each thread: dramatiq's default

    @contextlib.contextmanager
    def serving(self, home: Path, workers: int) -> Iterator[Client]:
        program = Path(sys.executable).with_name("dramatiq")
        with redisserver.serving(home) as url, contextlib.ExitStack() as stack:
            os.environ["BENCH_REDIS"] = url
            if workers:
                sizes = ["--processes", str(workers), "--threads", "1"]
                stack.enter_context(started([program, "bench.tasks.dramatiq_app", *sizes], home))
            yield Submitter()


class Submitter:
    def __init__(self) -> None:
        from bench.tasks import dramatiq_app

        self.app: Any = dramatiq_app

    def submit(self, count: int, task: str = "nothing") -> None:
        send = getattr(self.app, task).send
        for _ in range(count):
            send()

    def tell(self, pipe: Path, hold: Path | None = None) -> None:
        self.app.tell.send(os.fspath(pipe), os.fspath(hold or ""))

    def wait(self) -> None:
        """A message counts until its worker has acknowledged that it is through."""
        wait_until(lambda: self.app.broker.do_qsize("default") == 0, "dramatiq's messages are through")


SYSTEMS = (Dramatiq(),)

"""RQ on a real Redis: `rq worker` with the JSON serializer, jobs by enqueue_many(), an explicit timeout."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench import redisserver, tasks
from bench.processes import started, wait_until
from bench.taskqueue import Client, TaskQueue

TIMEOUT = 600


class Rq(TaskQueue):
    """Each job in a process of its own, forked by the worker: RQ's default."""

    name = "rq"
    distribution = "rq"
    submits_at_once = True
    runs_functions = True
    worker_class = "rq.worker.Worker"

    @contextlib.contextmanager
    def serving(self, home: Path, workers: int) -> Iterator[Client]:
        rq = str(Path(sys.executable).with_name("rq"))
        with redisserver.serving(home) as url, contextlib.ExitStack() as stack:
            command = [rq, "worker", "--url", url, "--serializer", "json", "--worker-class", self.worker_class, "-q"]
            for _ in range(workers):
                stack.enter_context(started(command, home))
            yield Submitter(url)


class SimpleRq(Rq):
    """Each job in the worker's own process: faster, and a job that dies takes the worker with it."""

    name = "rq simple"
    worker_class = "rq.worker.SimpleWorker"


class Submitter:
    def __init__(self, url: str) -> None:
        from redis import Redis
        from rq import Queue

        self.queue = Queue(connection=Redis.from_url(url), serializer="json")
        self.submitted = 0

    def submit(self, count: int, task: str = "nothing") -> None:
        function = getattr(tasks, task)
        self.queue.enqueue_many([self.queue.prepare_data(function, timeout=TIMEOUT) for _ in range(count)])
        self.submitted += count

    def tell(self, pipe: Path, hold: Path | None = None) -> None:
        self.queue.enqueue(tasks.tell, os.fspath(pipe), os.fspath(hold or ""), job_timeout=TIMEOUT)
        self.submitted += 1

    def wait(self) -> None:
        finished: Any = self.queue.finished_job_registry
        wait_until(lambda: finished.get_job_count(cleanup=False) >= self.submitted, "RQ's jobs end")


SYSTEMS = (Rq(), SimpleRq())

"""HyperQueue as its Python package has it: server and workers in a local cluster, a job of many programs."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench import tasks
from bench.processes import wait_until
from bench.taskqueue import Client, TaskQueue


class HyperQueue(TaskQueue):
    name = "hyperqueue"
    distribution = "hyperqueue"
    submits_at_once = True

    @contextlib.contextmanager
    def serving(self, home: Path, workers: int) -> Iterator[Client]:
        from hyperqueue import LocalCluster
        from hyperqueue.cluster import WorkerConfig

        with LocalCluster(str(home / "server")) as cluster:
            for _ in range(workers):
                cluster.start_worker(WorkerConfig(cores=1))
            yield Submitter(cluster.client(), home)


class Submitter:
    def __init__(self, client: Any, home: Path) -> None:
        self.client, self.home = client, home
        self.jobs: list[Any] = []

    def job(self) -> Any:
        from hyperqueue import Job

        return Job(default_workdir=tempfile.mkdtemp(prefix="job-", dir=self.home))

    def submit(self, count: int, task: str = "nothing") -> None:
        job = self.job()
        for _ in range(count):
            job.program([tasks.NOTHING])
        self.jobs.append(self.client.submit(job))

    def tell(self, pipe: Path, hold: Path | None = None) -> None:
        job = self.job()
        job.program(["/bin/sh", "-c", tasks.telling(str(pipe), str(hold or ""))])
        self.jobs.append(self.client.submit(job))

    def wait(self) -> None:
        wait_until(self.is_over, "HyperQueue's jobs end")
        self.jobs.clear()

    def is_over(self) -> bool:
        """Asked by its own call for waiting, which by itself looks only once a second."""
        found: dict[int, dict[str, Any]] = {}

        def look(jobs: dict[int, dict[str, Any]]) -> None:
            found.update(jobs)
            raise Looked

        with contextlib.suppress(Looked):
            self.client.connection.wait_for_jobs([job.id for job in self.jobs], look)
        if any(job["failed"] for job in found.values()):
            raise RuntimeError("tasks failed")
        return all(job["completed"] for job in found.values())


class Looked(Exception):
    """That was all."""


SYSTEMS = (HyperQueue(),)

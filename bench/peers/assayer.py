"""assayer's way, a hundred lines on RQ: a job that looks at a directory, sleeps, and enqueues itself again; one
worker for these jobs, five for the evaluations; a real Redis."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench import redisserver
from bench.processes import started
from bench.tasks import assayer_app
from bench.watchers import Watcher

EVALUATORS = 5


class Assayer(Watcher):
    name = "assayer's way"
    distribution = "rq"
    interval = 5.0
    pause = (0.0, 5.0)
    samples = 12

    @contextlib.contextmanager
    def watching(self, home: Path, directories: Sequence[Path], evaluator: Path) -> Iterator[None]:
        from redis import Redis
        from rq import Queue

        rq = str(Path(sys.executable).with_name("rq"))
        with redisserver.serving(home) as url, contextlib.ExitStack() as stack:
            command = [rq, "worker", "--url", url, "--serializer", "json", "-q"]
            for queue in ("watch", *["evaluation"] * EVALUATORS):
                stack.enter_context(started([*command, queue], home))
            # A worker sleeps in the job: with many directories each sleeps less, so that all are seen in the interval.
            interval = self.interval / len(directories)
            with Redis.from_url(url) as connection:
                watches = Queue("watch", connection=connection, serializer="json")
                for directory in directories:
                    known = [str(path) for path in directory.iterdir()]
                    arguments = (known, str(evaluator), interval, str(directory), url)
                    watches.enqueue(assayer_app.watch, *arguments, result_ttl=0, job_timeout=600)
                yield


class QuickAssayer(Assayer):
    name = "assayer's way, 1 s"
    interval = 1.0
    pause = (0.0, 1.0)
    samples = 20


SYSTEMS = (Assayer(), QuickAssayer())

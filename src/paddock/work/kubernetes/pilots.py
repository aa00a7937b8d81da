"""Workers as Jobs: each takes tasks from a queue until nothing is left."""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path

from paddock.errors import PaddockError, Refused
from paddock.queue.engine import Engine
from paddock.queue.task import Task
from paddock.record.layout import Home
from paddock.work.kubernetes import spec, states
from paddock.work.kubernetes.client import Client
from paddock.work.kubernetes.launcher import options
from paddock.work.launcher import Job, JobState, Pilot


def _pilot(job: Job) -> Pilot:
    if job.state is not JobState.ENDED or job.about.startswith(("complete", states.OVERDUE)):
        return Pilot(job.id, job.state, job.about)
    return Pilot(job.id, job.state, f"{job.about} (`paddock k8s logs {job.id}`)", failed=True)


class KubernetesFleet:
    def __init__(self, engine: Engine, home: Home, queue: str, each: Task, slots: int = 1) -> None:
        """`queue` as a worker takes it here; in the pods the home has a path of its own."""
        self._options = options(engine, each.engine)
        self._each, self._slots = each, slots
        inside = "://" not in queue and Path(queue).parent == home.queues
        self._queue = Path(queue).name if inside else queue
        mark = os.fsencode(f"{os.path.realpath(home.path)}\0{queue}")
        self._mark = f"pilots-{blake2b(mark, digest_size=8).hexdigest()}"
        self._client = Client(self._options.context, self._options.namespace)

    def look(self) -> Sequence[Pilot]:
        chosen = f"{spec.QUEUE}={self._mark}"
        found = states.jobs([*self._client.find("Job", chosen), *self._client.find("Pod", chosen)])
        return [_pilot(job) for jobs in found.values() for job in jobs]

    def start(self, count: int, *, lasting: bool) -> None:
        version = self._client.version

        def one(_: int) -> PaddockError | None:
            about = self._each, self._mark, self._queue, self._options, secrets.token_hex(4), version
            try:
                self._client.create(spec.pilot_job(*about, slots=self._slots, lasting=lasting))
            except PaddockError as error:
                return error
            return None

        if refused := [why for why in self._client.each(one, range(count)) if why is not None]:
            if len(refused) == count:
                raise refused[0]
            raise Refused(f"Only {count - len(refused)} of {count} workers were started: {refused[0]}")

    def end(self, pilots: Sequence[Pilot]) -> None:
        self._client.delete("Job", [pilot.id for pilot in pilots])

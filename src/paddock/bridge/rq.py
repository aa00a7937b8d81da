"""What a plain `rq worker` runs: one task, handed over by RQ, under our guard and with our record.

    rq worker --url redis://host:6379/0 --serializer rq.serializers.JSONSerializer evaluation

The job fails in RQ when the task fails, and its exception says how. Timeouts, retries and output are ours. Orders of
ours (pause, cancel while it runs) need `paddock worker`.
"""

from __future__ import annotations

import os
from typing import Any

from paddock import settings
from paddock.errors import PaddockError, TaskFailed
from paddock.queue.lifecycle import DONE, FAILED
from paddock.queue.redis import jobs
from paddock.queue.redis.keys import Keys
from paddock.queue.task import read, without
from paddock.record.layout import find_home
from paddock.work import lone
from paddock.work.options import Options
from paddock.work.slots import from_options


def run_task(text: str) -> str:
    """Run the task whose file this is; "done", or TaskFailed."""
    from rq import get_current_job

    job = get_current_job()
    if job is None:
        raise PaddockError("run_task runs inside of a job of RQ.", hint="rq worker")
    data = _latest(job, text)
    # It is here, so what it waited for has happened; the queue that it gets to itself knows nothing of those tasks.
    alone = without(data, {dependency.task for dependency in read(data, job.id).task.after})
    over = _run(alone, job.id)
    attempts = over.file(job.id).attempts
    _keep(job, data + over.data[len(alone) :], len(attempts))
    last = attempts[-1] if attempts else None
    if over.state != DONE:
        how = f"{last.outcome}: {last.exit}\n{last.tail}" if last is not None else "it did not run"
        raise TaskFailed(f"{job.id} {'failed' if over.state == FAILED else 'did not end'}: {how}")
    return DONE


def _run(data: bytes, task: str) -> lone.Over:
    given = settings.load()
    home = find_home(given.home)
    home.prepare()
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    cores = len(os.sched_getaffinity(0))
    options = Options(
        from_options(None, 1, os.environ, cores, memory), usage=given.worker_usage_seconds, fetch=_fetch(given, home)
    )
    return lone.run(data, task, home, options, home.path / "cache")


def _fetch(given: settings.Settings, home: Any) -> Any:
    if not given.server and not given.code_store:
        return None
    from paddock.track.ship.road import road

    found = road(given, home)
    return (lambda digest: found.fetch(home, digest)) if found is not None else None


def _latest(job: Any, text: str) -> bytes:
    """With what is noted of earlier attempts, which RQ's argument does not have."""
    noted = job.connection.hget(job.key, jobs.FIELD)
    return bytes(noted) if noted else text.encode("utf-8", "surrogateescape")


def _keep(job: Any, data: bytes, attempts: int) -> None:
    keys = Keys(job.origin)
    job.connection.hset(job.key, jobs.FIELD, data)
    job.connection.hset(keys.own("tasks"), job.id, jobs.about(read(data, job.id).task, attempts))

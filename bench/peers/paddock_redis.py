"""Paddock's queue in Redis: `paddock worker redis://...` processes, tasks by submit_all()."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench import redisserver, tasks
from bench.peers.paddock_queue import make_project
from bench.processes import started, wait_until
from bench.taskqueue import Client, TaskQueue


class PaddockRedis(TaskQueue):
    """Code in place, as RQ has it."""

    name = "paddock on redis"
    distribution = "rq"
    submits_at_once = True

    def environment(self, home: Path) -> dict[str, str]:
        return {"PADDOCK_HOME": str(home / "paddock"), "PADDOCK_CACHE": str(home / "cache")}

    @contextlib.contextmanager
    def serving(self, home: Path, workers: int) -> Iterator[Client]:
        project = make_project(home)
        with redisserver.serving(home) as server, contextlib.ExitStack() as stack:
            url = f"{server}?queue=bench"
            for _ in range(workers):
                stack.enter_context(started([sys.executable, "-m", "paddock", "worker", url], home))
            yield RedisClient(url, project)

    def block(self, client: Any, count: int) -> None:
        """Tasks ahead of all others that never run here: half of them fit nobody, half wait for one of those."""
        client.block(count)


class RedisClient:
    def __init__(self, url: str, project: Path) -> None:
        from paddock.queue.redis.queue import RedisQueue

        self.url, self.queue = url, RedisQueue(url)
        self.about = {"cwd": str(project), "snapshot": False}
        self.submitted = 0

    def submit(self, count: int, task: str = "nothing") -> None:
        self._put(count, tasks.NOTHING)

    def tell(self, pipe: Path, hold: Path | None = None) -> None:
        self._put(1, tasks.telling(str(pipe), str(hold or "")))

    def block(self, count: int) -> None:
        from paddock.queue import submit_all

        big = self.about | {"cmd": tasks.NOTHING, "gpus": 64, "priority": 1}
        first, *_ = submit_all([big] * (count // 2), queue=self.url)
        submit_all([big | {"after": [first.id]}] * (count - count // 2), queue=self.url)

    def _put(self, count: int, command: str) -> None:
        from paddock.queue import submit_all

        submit_all([self.about | {"cmd": command}] * count, queue=self.url)
        self.submitted += count

    def wait(self) -> None:
        connection: Any = self.queue.connection
        finished, failed = self.queue.keys.rq("finished"), self.queue.keys.rq("failed")
        wait_until(lambda: connection.zcard(finished) >= self.submitted, "Paddock's tasks end", every=0.01)
        if connection.zcard(failed):
            raise RuntimeError("tasks failed")


SYSTEMS = (PaddockRedis(),)

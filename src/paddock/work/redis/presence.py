"""A worker as Redis knows it: who it is, that it lives, and what RQ's own tools are to see of it."""

from __future__ import annotations

import os
import time

from paddock import wire
from paddock.queue.lease import read_identity
from paddock.queue.redis import jobs
from paddock.queue.redis.connection import sentences
from paddock.queue.redis.crew import forget
from paddock.work.processes.clock import boot_time
from paddock.work.redis.held import Stock
from paddock.work.redis.restoring import restore

KEPT_SECONDS = 60  # of the key by which RQ knows that we live, beyond the reclaim
_BURIED_SECONDS = 60  # RQ shows for so long that it has ended


class Presence:
    def __init__(self, stock: Stock, worker: str) -> None:
        self._stock, self._worker = stock, worker
        self._key = f"rq:worker:{worker}"
        self._shown = ""  # what RQ was last told that we do
        self.vouched = 0.0  # when Redis last heard that we live, by the clock since boot
        self.beaten = -1e9

    def register(self) -> None:
        queue, tray = self._stock.queue, self._stock.tray
        identity = read_identity(tray.workers / self._worker)
        assert identity is not None
        keys, now = queue.keys, jobs.moment()
        with sentences(queue.where), queue.connection.pipeline(transaction=True) as pipeline:
            pipeline.set(keys.own("here"), "1")
            pipeline.hset(keys.own("workers"), self._worker, wire.dumps(identity._asdict() | {"tray": str(tray.path)}))
            pipeline.sadd("rq:workers", self._key)
            pipeline.sadd(keys.rq("workers"), self._key)
            pipeline.hset(
                self._key,
                mapping={
                    "birth": now,
                    "last_heartbeat": now,
                    "queues": queue.name,
                    "pid": os.getpid(),
                    "hostname": identity.host,
                    "ip_address": "",
                    "version": "paddock",
                    "python_version": "",
                    "state": "idle",
                },
            )
            pipeline.execute()
        self._shown = ""
        self.beat()

    def beat(self) -> None:
        at = boot_time()  # before it is said: who is stopped between the two must not look fresher than it is
        keep = int(self._stock.options.liveness.reclaim) + KEPT_SECONDS
        known = self._stock.queue.change("beat", self._worker, jobs.moment(), keep)
        self.vouched, self.beaten = at, time.monotonic()
        if not known:  # Redis has lost its memory, or somebody has cleaned up
            for task, held in self._stock.held.items():  # first: a worker that Redis knows has nothing to restore
                restore(self._stock, task, held)
            self.register()

    def show(self) -> None:
        state = "idle" if all(one.over for one in self._stock.held.values()) else "busy"
        if state != self._shown:
            self._shown = state
            # Not which job it is: rq-dashboard unpickles that one whatever it is told, and then shows no worker at all.
            self._stock.queue.change("show", self._worker, state)

    def unregister(self) -> None:
        queue = self._stock.queue
        with queue.connection.pipeline(transaction=True) as pipeline:
            forget(pipeline, queue.keys, self._worker)
            pipeline.hset(self._key, "death", jobs.moment())
            pipeline.expire(self._key, _BURIED_SECONDS)
            pipeline.execute()

"""The workers of a queue in Redis: ours by their signs of life, plain ones of RQ by the key that RQ lets expire."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from paddock import wire
from paddock.queue.lease import Identity
from paddock.queue.redis.keys import WORKER, Keys

SILENT_SECONDS = 60.0
Heard = tuple[Identity, float, bool]  # who, how many seconds ago, and whether that is too long


def crew(connection: Any, keys: Keys) -> list[Heard]:
    with connection.pipeline(transaction=True) as pipeline:
        pipeline.hgetall(keys.own("workers"))
        pipeline.hgetall(keys.own("beats"))
        pipeline.hgetall(keys.own("beaten"))
        pipeline.smembers(keys.rq("workers"))
        pipeline.time()
        known, beats, beaten, all_of_rq, now = pipeline.execute()
    found = []
    for name, data in known.items():
        with contextlib.suppress(msgspec.ValidationError, wire.DecodeError, TypeError, AttributeError):
            identity = wire.loads(data)
            identity.pop("tray", None)
            worker = Identity(**identity | {"beat": int(beats.get(name, 0))})
            silence = max(0.0, now[0] + now[1] / 1e6 - float(beaten.get(name, 0)))
            found.append((worker, silence, silence > SILENT_SECONDS))
    ours = {f"{WORKER}{name.decode()}" for name in known}
    return found + list(_of_rq(connection, {key.decode() for key in all_of_rq} - ours))


def _of_rq(connection: Any, workers: Iterable[str]) -> Iterator[Heard]:
    for key in sorted(workers):
        pid, host = connection.hmget(key, "pid", "hostname")
        if pid is not None:
            yield Identity(key.removeprefix(WORKER), 0, (host or b"").decode(), int(pid), "", ""), 0.0, False


def forget(pipeline: Any, keys: Keys, worker: str) -> None:
    """It is none of the crew any more."""
    for what in ("workers", "beats", "beaten"):
        pipeline.hdel(keys.own(what), worker)
    pipeline.srem("rq:workers", f"{WORKER}{worker}")
    pipeline.srem(keys.rq("workers"), f"{WORKER}{worker}")

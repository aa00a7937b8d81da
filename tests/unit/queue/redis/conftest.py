"""A real Redis, and a new queue in it for each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from paddock.queue.redis.queue import RedisQueue
from tests.redisserver import RedisServer


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    made = RedisServer(tmp_path_factory.mktemp("redis"))
    try:
        yield made
    finally:
        made.stop()


@pytest.fixture
def queue(server: RedisServer) -> RedisQueue:
    made = RedisQueue(f"{server.url}?queue=q")
    made.connection.flushdb()
    made.prepare()
    return made

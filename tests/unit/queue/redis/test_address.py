"""Which Redis, and which of its queues."""

from __future__ import annotations

import pytest

from paddock.errors import UsageError
from paddock.queue.redis.address import is_redis, parse


def test_a_url_names_a_server_and_a_queue() -> None:
    assert parse("redis://box:6380/3?queue=evaluation").server == "redis://box:6380/3"
    assert parse("redis://box:6380/3?queue=evaluation").queue == "evaluation"
    assert parse("redis://box").shown == "redis://box:6379/0?queue=default"
    assert parse("rediss://box").server == "rediss://box:6379/0"
    assert parse("unix:///run/redis.sock?db=2&queue=q").shown == "unix:///run/redis.sock?db=2&queue=q"
    assert parse("redis://[::1]:1").server == "redis://[::1]:1/0"


def test_a_password_is_never_shown() -> None:
    found = parse("redis://ann:s%40cret@box/0")
    assert (found.server, found.password) == ("redis://ann@box:6379/0", "s@cret")
    assert "cret" not in found.shown


@pytest.mark.parametrize(
    "url",
    [
        "redis:/box:6379/0",
        "redis://box:x",
        "redis://box/abc",
        "redis://box?queue=",
        "redis://box?queue=a b",
        "redis://b?queue=a&queue=b",
    ],
)
def test_what_is_no_redis_is_a_sentence(url: str) -> None:
    with pytest.raises(UsageError):
        parse(url)


def test_other_urls_are_not_meant() -> None:
    assert not is_redis("slurm://gpu")
    assert not is_redis("redis")
    assert not is_redis("unix")
    assert is_redis("rediss://x")

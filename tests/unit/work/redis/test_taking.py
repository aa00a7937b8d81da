"""Tasks that a worker takes out of a real Redis into its tray."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from paddock import wire
from paddock.queue.directory import DirectoryQueue
from paddock.queue.lease import Identity
from paddock.queue.redis import jobs
from paddock.queue.redis.queue import RedisQueue
from paddock.queue.task import Task
from paddock.work.options import Options
from paddock.work.redis.held import Stock
from paddock.work.redis.heritage import Heritage
from paddock.work.redis.taking import Taking
from paddock.work.slots import Slots
from tests.redisserver import RedisServer


@pytest.fixture
def stock(tmp_path: Path) -> Iterator[Stock]:
    server = RedisServer(tmp_path)
    try:
        queue, tray = RedisQueue(f"{server.url}?queue=q"), DirectoryQueue(tmp_path / "tray")
        queue.prepare()
        tray.prepare()
        queue.put([Task(id=name, command="true") for name in ("a", "b", "c")])
        yield Stock(queue, tray, Options(Slots(1, ())), print)
    finally:
        server.stop()


def fetch(stock: Stock) -> list[str]:
    Taking(stock, "w").fetch(time.monotonic(), lambda now: True, news=True)
    return list(stock.held)


def test_a_worker_takes_what_it_has_room_for(stock: Stock) -> None:
    assert fetch(stock) == ["a"]
    assert fetch(stock) == ["a"]


def test_what_is_over_makes_room_before_its_end_is_written_down(stock: Stock) -> None:
    fetch(stock)
    stock.held["a"].over = True
    assert fetch(stock) == ["a", "b"]
    assert sorted(place.id for place in stock.tray.list().places) == ["a", "b"]


def test_what_has_no_directory_on_this_machine_is_left_to_others(stock: Stock, tmp_path: Path) -> None:
    """Who leaves it takes what comes behind it, and another has it at once."""
    nowhere, queue = str(tmp_path / "nowhere"), stock.queue
    queue.put(
        [
            Task(id="there", command="true", cwd=nowhere, priority=9),
            Task(id="seen", command="true", facts={"here": [nowhere]}, priority=8),
            Task(id="frozen", command="true", cwd=nowhere, code="0" * 64, priority=7),  # its code is brought here
        ]
    )
    assert fetch(stock) == ["frozen"]
    assert [place.id for place in queue.list(["queued"]).places] == ["there", "seen", "a", "b", "c"]
    assert queue.reasons()["there"].startswith(f"there is no {nowhere} on ")
    (tmp_path / "nowhere").mkdir()
    other = Stock(queue, stock.tray, Options(Slots(2, ())), print)
    Taking(other, "v").fetch(time.monotonic(), lambda now: True, news=True)
    assert list(other.held) == ["there", "seen"]
    assert queue.reasons() == {}


def leaving(stock: Stock, *, alive: bool) -> bool:
    return Taking(stock, "w", lambda worker: alive).is_over


def test_a_worker_that_does_not_persist_waits_for_nothing_that_needs_more_than_it_has(stock: Stock) -> None:
    stock.options = Options(Slots(1, ("0",)), persist=False)
    for task in "abc":
        (place,) = [place for place in stock.queue.list().places if place.id == task]
        assert stock.queue.remove(place)
    stock.queue.put([Task(id="large", command="true", gpus=2)])
    assert leaving(stock, alive=False)
    stock.queue.put([Task(id="fits", command="true", gpus=1)])
    assert not leaving(stock, alive=False)


def test_what_others_run_is_waited_for_until_it_is_seen_that_they_live(stock: Stock) -> None:
    """Where workers come and go, nobody else might be there to see that one has died."""
    stock.options = Options(Slots(3, ()), persist=False)
    other = Stock(stock.queue, stock.tray, stock.options, print)
    Taking(other, "v").fetch(time.monotonic(), lambda now: True, news=True)
    assert list(other.held) == ["a", "b", "c"]
    assert not leaving(stock, alive=False)
    assert leaving(stock, alive=True)


def test_a_worker_of_another_machine_lives_once_its_beat_has_changed(stock: Stock) -> None:
    queue, heritage = stock.queue, Heritage(stock, "w")
    far = Identity("far", 0, "elsewhere", 1, "1", "another boot")
    queue.connection.hset(queue.keys.own("workers"), "far", wire.dumps(far._asdict()))
    for beats, alive in ((1, False), (0, False), (1, True), (0, True)):
        for _ in range(beats):
            queue.change("beat", "far", jobs.moment(), 60)
        heritage.look()
        assert heritage.is_alive("far") is alive

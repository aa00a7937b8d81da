"""Tasks that a worker takes out of a real Redis into its tray."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from paddock.queue.directory import DirectoryQueue
from paddock.queue.redis.queue import RedisQueue
from paddock.queue.task import Task
from paddock.work.options import Options
from paddock.work.redis.held import Stock
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

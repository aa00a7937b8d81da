"""Many people give orders at once, by command and by hand, while workers work: nothing is lost, nothing runs twice."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import pytest

from paddock.errors import PaddockError
from paddock.queue.directory import DirectoryQueue, find_queue
from paddock.queue.entry.submission import submit_all
from paddock.queue.order import cancelling, orders
from paddock.queue.order.orders import CANCEL, PAUSE, PRIORITY, RERUN, RESUME, RETRY, carry_out
from paddock.record.layout import Home

TASKS, PEOPLE, SECONDS = 40, 4, 8.0
WORKER = """
import sys
from pathlib import Path
from paddock.queue.directory import find_queue
from paddock.record.layout import Home
from paddock.work.slots import Slots
from paddock.work.worker import Options, Worker
home = Home(Path(sys.argv[1]))
sys.exit(Worker(home, [find_queue("default", home)], Options(Slots(3, ()), grace=5.0), Path(sys.argv[1]) / "c").run())
"""
# Begins only when nobody else has begun it and not ended: mkdir is won by one.
COMMAND = "mkdir {lock} || {{ echo {lock} >> {twice}; exit 9; }}; trap 'rmdir {lock}' EXIT; sleep 0.1; {fails}"


def act(queue: DirectoryQueue, chance: random.Random, cancelled: set[str], end: float) -> None:
    while time.monotonic() < end:
        places = queue.list().places
        if not places:
            return
        place = chance.choice(places)
        order = chance.choice([PAUSE, PAUSE, RESUME, RESUME, RETRY, RERUN, PRIORITY, CANCEL])
        if order == CANCEL and (chance.random() < 0.9 or len(cancelled) > TASKS // 3):
            continue
        try:
            step = carry_out(queue, order, place, chance.randrange(5) if order == PRIORITY else None)
        except PaddockError:
            continue
        if order == CANCEL:
            cancelled.add(place.id)
            if step.after is not None:
                assert not cancelling.wait_until_over(queue, [step.after], 60)
        time.sleep(chance.random() / 20)


@pytest.mark.parametrize("seed", [1])
def test_a_storm_of_orders_loses_nothing_and_doubles_nothing(home: Home, tmp_path: Path, seed: int) -> None:
    queue = find_queue("default", home)
    twice = tmp_path / "twice"
    commands = [
        COMMAND.format(lock=tmp_path / f"lock{number}", twice=twice, fails="exit 1" if number % 4 == 0 else "true")
        for number in range(TASKS)
    ]
    tasks = [t.id for t in submit_all([{"cmd": c, "snapshot": False} for c in commands], home=home)]
    crew = [subprocess.Popen([sys.executable, "-c", WORKER, str(home.path)]) for _ in range(2)]
    cancelled: set[str] = set()
    end = time.monotonic() + SECONDS
    people = [
        threading.Thread(target=act, args=(queue, random.Random(seed * 100 + n), cancelled, end)) for n in range(PEOPLE)
    ]
    try:
        for person in people:
            person.start()
        for person in people:
            person.join()
        settle(queue)
    finally:
        for worker in crew:
            worker.terminate()
        for worker in crew:
            worker.wait(60)
    places = queue.list().places
    assert [task for task, count in Counter(p.id for p in places).items() if count > 1] == [], "doubled"
    assert {p.id for p in places} == set(tasks) - cancelled, "lost, or not cancelled"
    assert {p.state for p in places} <= {"done", "failed"} and not any(p.token for p in places)
    assert not twice.exists(), f"ran twice at once: {twice.read_text()}"
    assert os.listdir(queue.directory(".cancelled")) == []


def settle(queue: DirectoryQueue) -> None:
    """Let everything that is held go on, until all is over."""
    end = time.monotonic() + 120
    while places := [p for p in queue.list().places if p.state not in ("done", "failed") or p.token]:
        assert time.monotonic() < end, f"stuck: {[p.path for p in places]}"
        for place in places:
            if place.state == "paused":
                try:
                    carry_out(queue, orders.RESUME, place)
                except PaddockError:
                    continue
        time.sleep(0.1)

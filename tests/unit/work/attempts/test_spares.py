"""Processes that were started ahead: real ones, under a real guard."""

from __future__ import annotations

import os
import shlex
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import paddock
from paddock.queue.lifecycle import ACTIVE, Place, Token
from paddock.queue.task import Task, TaskFile
from paddock.record.journal import Journal
from paddock.record.layout import Home
from paddock.work.attempts.attempt import Running
from paddock.work.attempts.spares import ALL, EACH, Kind, Spares
from paddock.work.processes import process
from paddock.work.processes.guard import Exited
from paddock.work.slots import Slots
from tests.waiting import until

WAITS = """
import os, socket, sys, time
from paddock.queue import handover
channel = socket.socket(fileno=os.dup(0))
channel.send(handover.READY)
task, output = handover.receive(channel)
worn = handover.wear(task)
os.dup2(output, 1)
print(worn, os.environ["PADDOCK_RUN_ID"], os.environ.get("CUDA_VISIBLE_DEVICES"), os.getcwd(), flush=True)
if task.command == "stay":
    time.sleep(600)
if task.command.startswith("echo"):
    handover.run_instead(task)
"""
ENV = {"PYTHONPATH": str(Path(paddock.__file__).parents[1])}
# Processes are found by them among all of this machine, those of the same test in a process beside this one included.
WORKER = f"box-{os.getpid()}"
KEY = f"eval-1~{WORKER}-aa.1"
FREE = Slots(4, ("0", "1"), share=0)


class Shop:
    """Spares, and their guard's events so far."""

    def __init__(self, bench: Any, home: Home, directory: Path) -> None:
        self.bench, self.home, self.directory = bench, home, directory
        self.said: list[str] = []
        self.made: list[Spares] = []

    def spares(self, *kinds: Kind, learns: bool = False, slots: Slots = FREE) -> Spares:
        worker = f"{WORKER}-{len(self.made) + 1}"
        self.made.append(Spares(self.bench.guard, self.home, worker, slots, kinds, learns, self.said.append))
        return self.made[-1]

    def kind(self, script: str = WAITS, gpus: int = 0) -> Kind:
        return Kind(shlex.join([sys.executable, "-c", script]), str(self.directory), tuple(ENV.items()), gpus)

    def task(self, kind: Kind, command: str = "end") -> Task:
        return Task(id="eval-1", command=command, warm=kind.command, cwd=kind.directory, env=ENV, gpus=kind.gpus)

    def hand(self, spares: Spares, task: Task, free: Slots = FREE) -> tuple[bool, Any]:
        spare = until(lambda: spares.find(task, free, time.monotonic()))
        until(lambda: spare.look())
        place = Place(ACTIVE, task.id, 0, Token(f"{WORKER}-aa", 1))
        run = self.home.run(task.id)
        run.journals.mkdir(parents=True, exist_ok=True)
        journal = Journal(run.journals / f"{time.monotonic_ns()}.jsonl", {})
        file, key = TaskFile(task, "aa"), f"{task.id}~{place.token}"
        running = Running(place, file, key, 1, str(run.path), journal, "", (), str(self.directory))
        return spares.hand(spare, running, {"PADDOCK_RUN_ID": task.id}, self.bench.output, 0.0, 5.0), spare


@pytest.fixture
def shop(bench: Any, home: Home, tmp_path: Path) -> Iterator[Shop]:
    made = Shop(bench, home, tmp_path)
    yield made
    for spares in made.made:
        spares.close()


def count(spares: Spares, kind: Kind) -> int:
    return sum(spare.kind == kind for spare in spares._spares.values())


def test_one_that_waits_becomes_the_task_with_its_environment_and_output(shop: Shop) -> None:
    kind = shop.kind()
    spares = shop.spares(kind)
    spares.work(FREE, 0.0)
    handed, _ = shop.hand(spares, shop.task(kind))
    assert handed
    assert shop.bench.exit(KEY).status == 0
    assert shop.bench.text == f"True eval-1  {shop.directory}\n"


def test_others_find_it_by_the_token_of_the_task(shop: Shop) -> None:
    """A worker that takes over from a dead one, and whose guard is dead too, has nothing else to go by."""
    kind = shop.kind()
    spares = shop.spares(kind)
    spares.work(FREE, 0.0)
    shop.hand(spares, shop.task(kind, "stay"))
    until(lambda: shop.bench.text)
    assert process.tokens_of(f"{WORKER}-aa") >= {KEY}
    assert process.kill_marked(KEY) == 1
    assert os.WTERMSIG(shop.bench.exit(KEY).status) == signal.SIGKILL


def test_it_can_be_killed_as_the_task_and_become_its_ordinary_command(shop: Shop) -> None:
    kind = shop.kind()
    spares = shop.spares(kind)
    spares.work(FREE, 0.0)
    shop.hand(spares, shop.task(kind, "stay"))
    until(lambda: shop.bench.text)
    shop.bench.guard.kill(KEY, 0.0)
    assert shop.bench.exit(KEY).how == "killed"
    shop.hand(spares, shop.task(kind, "echo $PADDOCK_RUN_ID $PADDOCK_TASK_TOKEN in $PWD; exit 3"))
    assert os.waitstatus_to_exitcode(shop.bench.exit(KEY).status) == 3
    assert shop.bench.text.splitlines()[-1] == f"eval-1 {KEY} in {shop.directory}"


def test_one_that_is_dead_takes_no_task(shop: Shop) -> None:
    kind = shop.kind()
    spares = shop.spares(kind, slots=Slots(1, ()))
    spares.work(FREE, 0.0)
    (spare,) = spares._spares.values()
    until(spare.look)
    process.kill_marked(spare.key)
    handed, _ = shop.hand(spares, shop.task(kind))
    assert not handed


def test_few_are_kept_and_none_of_what_nobody_needs(shop: Shop) -> None:
    kinds = [shop.kind(WAITS + f"# {number}") for number in range(ALL + 1)]
    spares = shop.spares(learns=True)
    for number, kind in enumerate(kinds):
        assert spares.find(shop.task(kind), FREE, float(number)) is None
    spares.work(FREE, 10.0)
    assert [count(spares, kind) for kind in kinds] == [0, 1, 1, 1, 1]  # the latest
    two = shop.spares(*kinds[:2])
    two.work(FREE, 0.0)
    assert [count(two, kind) for kind in kinds[:2]] == [EACH, EACH]
    spares.work(FREE, 1e9)
    assert len(spares._spares) == 0
    one = shop.spares(kinds[0], slots=Slots(1, ()))
    one.work(FREE, 0.0)
    assert count(one, kinds[0]) == 1


def test_a_gpu_is_chosen_when_it_is_started_and_a_task_waits_for_no_other(shop: Shop) -> None:
    kind = shop.kind(gpus=1)
    spares = shop.spares(kind)
    spares.work(FREE, 0.0)
    assert sorted(spare.gpus for spare in spares._spares.values()) == [("0",), ("1",)]
    handed, spare = shop.hand(spares, shop.task(kind), Slots(1, ("1",)))
    assert handed and spare.gpus == ("1",)
    assert Slots(1, ("0", "1")).take(shop.task(kind), spare.gpus) == (Slots(0, ("0",)), ("1",))
    shop.bench.exit(KEY)
    assert shop.bench.text == f"True eval-1 1 {shop.directory}\n"
    assert spares.find(shop.task(kind), Slots(1, ("1",)), 0.0) is None


def test_what_does_not_start_rests_and_is_told_once(shop: Shop) -> None:
    kind = shop.kind("import sys; sys.exit(3)")
    spares = shop.spares(kind, slots=Slots(1, ()))
    now = 0.0
    for _ in range(3):
        spares.work(FREE, now)
        (key,) = spares._spares
        assert spares.exited(shop.bench.wait(Exited, key), now)
        spares.work(FREE, now + 0.5)
        assert len(spares._spares) == 0
        now += spares.pause(now)
    assert now == 2 + 4 + 8 and len(shop.said) == 1 and "exit code 3" in shop.said[0]


def test_what_is_out_of_date_is_replaced_at_once(shop: Shop) -> None:
    kind = shop.kind("import sys; sys.exit(75)")
    spares = shop.spares(kind, slots=Slots(1, ()))
    spares.work(FREE, 0.0)
    (key,) = spares._spares
    spares.exited(shop.bench.wait(Exited, key), 0.0)
    assert 0 < spares.pause(0.0) < 1 and shop.said == []
    assert not spares.exited(Exited("of a task", 0, "itself"), 0.0)

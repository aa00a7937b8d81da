"""Slots that are kept for tasks whose code is on its way."""

from __future__ import annotations

from paddock.queue.task import Task
from paddock.work.awaited import PATIENCE_SECONDS, Awaited
from paddock.work.slots import Slots

FREE = Slots(2, ("0", "1"))


def task(name: str, **about) -> Task:
    return Task(id=name, command="true", code=f"code of {name}", **about)


def test_others_get_what_a_task_leaves_whose_code_is_on_its_way() -> None:
    awaited = Awaited()
    assert awaited.room(FREE, 0.0) == FREE
    awaited.keep(task("a", gpus=1), 0.0)
    assert awaited.room(FREE, 1.0) == Slots(1, ("1",))
    awaited.came(task("a", gpus=1))
    assert awaited.room(FREE, 1.0) == FREE


def test_nobody_waits_for_long_nor_for_what_does_not_fit_anyway() -> None:
    awaited = Awaited()
    awaited.keep(task("a", gpus=1), 0.0)
    awaited.keep(task("a", gpus=1), PATIENCE_SECONDS)  # asked for again: the first time counts
    assert awaited.room(FREE, PATIENCE_SECONDS) == FREE
    awaited.keep(task("b", gpus=3), PATIENCE_SECONDS)
    assert awaited.room(FREE, PATIENCE_SECONDS) == FREE


def test_what_could_not_be_had_once_is_not_waited_for_again_until_it_came() -> None:
    awaited = Awaited()
    awaited.keep(task("a"), 0.0)
    awaited.missed(task("a"))
    assert awaited.room(FREE, 0.0) == FREE
    awaited.keep(task("a"), 0.0)
    assert awaited.room(FREE, 0.0) == FREE
    awaited.came(task("a"))
    awaited.keep(task("a"), 0.0)
    assert awaited.room(FREE, 0.0).tasks == 1

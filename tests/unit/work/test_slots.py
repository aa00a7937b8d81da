"""What a worker has, and what is left of it."""

from __future__ import annotations

import pytest

from paddock.errors import UsageError
from paddock.queue.task import Task
from paddock.work.slots import Slots, from_options, visible


def test_gpus_are_given_out_and_come_back() -> None:
    free = Slots(2, ("0", "1", "2"))
    two = Task(id="a", command="x", gpus=2)
    left, given = free.take(two)
    assert (left, given) == (Slots(1, ("2",)), ("0", "1"))
    assert not left.fits(two)
    assert left.fits(Task(id="b", command="x", gpus=1))
    assert left.give_back(two, given) == free


def test_cores_and_memory_count_only_where_somebody_said_how_much_there_is() -> None:
    big = Task(id="a", command="x", cpus=8, mem=1 << 40)
    assert Slots(1, ()).fits(big)
    free = Slots(4, (), cpus=8, mem=1 << 30)
    assert not free.fits(big)
    half = Task(id="b", command="x", cpus=4, mem=1 << 29)
    left, _ = free.take(half)
    assert left == Slots(3, (), cpus=4, mem=1 << 29)
    assert not left.take(half)[0].fits(Task(id="c", command="x", cpus=1))
    assert left.give_back(half, ()) == free


def test_as_many_slots_as_gpus_unless_told() -> None:
    assert from_options("0,1", None, {}) == Slots(2, ("0", "1"), share=1)
    assert from_options(None, None, {"CUDA_VISIBLE_DEVICES": "3,4"}) == Slots(1, ("3", "4"))
    assert from_options("0,1", 3, {}).tasks == 3
    with pytest.raises(UsageError, match="twice"):
        from_options("1,1", None, {})


@pytest.mark.parametrize("gpus", ["all", "0,two", "0-3", "cuda:0"])
def test_what_is_no_gpu_is_refused_and_not_given_out(gpus: str) -> None:
    with pytest.raises(UsageError, match="is no GPU"):
        from_options(gpus, None, {})
    assert from_options(None, None, {"CUDA_VISIBLE_DEVICES": gpus}).tasks == 1  # not ours to judge
    known = "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6,MIG-GPU-8932f937/1/0,MIG-7b9b-1,3"
    assert from_options(known, None, {}).tasks == 4


def test_a_task_sees_its_gpus_and_no_others() -> None:
    assert visible(Task(id="a", command="x", gpus=1), ("2",), 0) == "2"
    assert visible(Task(id="a", command="x"), (), 0) == ""


@pytest.mark.parametrize(
    ("gpus", "slots", "seen"),
    [
        ("0,1", None, ["0", "1"]),  # a GPU each
        ("1", None, ["1"]),  # and not all of the machine's
        ("0,1", 1, ["0,1"]),
        ("0,1", 3, ["", "", ""]),  # not enough: they are for those that ask
        (None, 2, [None, None]),  # nobody gives them out: what the worker has
    ],
)
def test_a_task_that_asks_for_no_gpu_sees_those_of_its_slot(gpus, slots, seen) -> None:
    free = most = from_options(gpus, slots, {"CUDA_VISIBLE_DEVICES": "5"})
    plain, found, held = Task(id="a", command="x"), [], []
    for _ in range(most.tasks):
        free, given = free.take(plain)
        held.append(given)
        found.append(visible(plain, given, most.share))
    assert found == seen
    for given in held:
        free = free.give_back(plain, given)
    assert free == most


def test_a_task_that_asks_for_no_gpu_does_not_wait_for_one() -> None:
    free, both = from_options("0,1", None, {}).take(Task(id="a", command="x", gpus=2))
    assert both == ("0", "1")
    plain = Task(id="b", command="x")
    assert free.fits(plain)
    _, given = free.take(plain)
    assert visible(plain, given, free.share) == ""

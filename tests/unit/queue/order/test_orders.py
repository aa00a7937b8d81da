"""Orders of people: where each leads from everywhere, and that it gets there whatever others do meanwhile."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

import paddock
from paddock.errors import NotFound, Refused, TimedOut
from paddock.queue import tasks
from paddock.queue.directory import DirectoryQueue
from paddock.queue.lifecycle import ACTIVE, CANCELLED, DONE, FAILED, PAUSED, QUEUED, STATES, Place, Token
from paddock.queue.order import cancelling, orders
from paddock.queue.order.orders import CANCEL, FROM, PAUSE, PRIORITY, RERUN, RESUME, RETRY, carry_out, destination
from paddock.queue.task import Task

MINE = Token("w-1", 2)


@pytest.fixture
def queue(tmp_path: Path) -> DirectoryQueue:
    found = DirectoryQueue(tmp_path / "q")
    found.prepare()
    return found


def put(queue: DirectoryQueue, at: Place, priority: int = 0) -> Place:
    queue.put([Task(id=at.id, command="x", priority=priority)])
    os.rename(queue.file(Place(QUEUED, at.id, priority)), queue.file(at))
    return at


@pytest.mark.parametrize(
    ("order", "at", "to"),
    [
        (CANCEL, Place(QUEUED, "t", 3), None),
        (CANCEL, Place(PAUSED, "t"), None),
        (CANCEL, Place(ACTIVE, "t", 0, MINE), Place(CANCELLED, "t", 0, MINE)),
        (CANCEL, Place(PAUSED, "t", 0, MINE), Place(CANCELLED, "t", 0, MINE)),
        (PAUSE, Place(QUEUED, "t", 3), Place(PAUSED, "t", 3)),
        (PAUSE, Place(ACTIVE, "t", 3, MINE), Place(PAUSED, "t", 3, MINE)),
        (RESUME, Place(PAUSED, "t", 3), Place(QUEUED, "t", 3)),
        (RESUME, Place(PAUSED, "t", 3, MINE), Place(ACTIVE, "t", 3, MINE)),
        (RETRY, Place(FAILED, "t"), Place(QUEUED, "t", 7)),
        (RERUN, Place(DONE, "t"), Place(QUEUED, "t", 7)),
        (PRIORITY, Place(QUEUED, "t", 1), Place(QUEUED, "t", 7)),
        (PRIORITY, Place(PAUSED, "t", 1, MINE), Place(PAUSED, "t", 7, MINE)),
    ],
)
def test_each_order_leads_to_one_place(order: str, at: Place, to: Place | None) -> None:
    assert destination(order, at, 7) == to


def test_what_makes_no_sense_is_refused_with_what_would() -> None:
    for order, states in FROM.items():
        for state in set(STATES) - set(states):
            with pytest.raises(Refused) as caught:
                destination(order, Place(state, "t"))
            assert caught.value.message == f"t is {state}." and caught.value.hint


def test_an_order_follows_a_task_that_was_taken_meanwhile(queue: DirectoryQueue) -> None:
    seen = put(queue, Place(QUEUED, "t"))
    queue.move(seen, Place(ACTIVE, "t", 0, MINE))
    assert carry_out(queue, PAUSE, seen).after == Place(PAUSED, "t", 0, MINE)
    assert carry_out(queue, CANCEL, seen).after == Place(CANCELLED, "t", 0, MINE)
    assert queue.list().places == []


def test_a_task_that_ended_meanwhile_is_left_where_it_is(queue: DirectoryQueue) -> None:
    put(queue, Place(DONE, "t"))
    with pytest.raises(Refused, match="t is done"):
        carry_out(queue, CANCEL, Place(ACTIVE, "t", 0, MINE))
    with pytest.raises(NotFound, match="was removed"):
        carry_out(queue, RETRY, Place(FAILED, "other"))
    assert carry_out(queue, CANCEL, Place(QUEUED, "other")).remark == "somebody else removed it"
    assert [place.path for place in queue.list().places] == ["done/t"]


def test_a_result_that_is_being_written_is_waited_for_then_refused(queue: DirectoryQueue) -> None:
    seen = put(queue, Place(FAILED, "t", 0, MINE))
    with pytest.raises(Refused, match="w-1"):
        carry_out(queue, RETRY, seen)
    waits = threading.Timer(0.2, lambda: queue.move(seen, Place(FAILED, "t")))
    waits.start()
    assert carry_out(queue, RETRY, seen).after == Place(QUEUED, "t")
    waits.join()


def test_of_many_who_order_the_same_each_task_moves_once(queue: DirectoryQueue) -> None:
    places = [put(queue, Place(FAILED, f"t{number}"), 1) for number in range(50)]
    done: list[str] = []

    def retry() -> None:
        for place in places:
            try:
                step = carry_out(queue, RETRY, place)
                done.append(step.id)
            except Refused:
                pass

    threads = [threading.Thread(target=retry) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(p.path for p in queue.list().places) == sorted(f"queued/t{number}@1" for number in range(50))
    assert len(done) >= 50


def test_a_disk_that_is_away_is_not_an_empty_queue(queue: DirectoryQueue) -> None:
    (queue.path / ".paddock-queue").unlink()
    with pytest.raises(Refused, match="cannot be read"):
        orders.find(queue, "t")


def test_a_submitted_task_knows_its_state_and_can_be_waited_for_and_cancelled(tmp_path: Path) -> None:
    task = paddock.submit("true", queue=tmp_path / "q", snapshot=False)
    assert task.state() == "queued"
    (entry,) = tasks(tmp_path / "q")
    assert (entry.id, entry.state, entry.title, entry.priority, entry.worker) == (task.id, "queued", "true", 0, "")
    with pytest.raises(TimedOut):
        task.wait(timeout=0.05)
    assert task.cancel() is True
    assert (task.state(), task.wait()) == ("gone", "gone")
    with pytest.raises(NotFound):
        task.cancel()


def test_the_end_of_one_cancelled_task_is_not_the_end_of_another(queue: DirectoryQueue) -> None:
    for task in ("t1", "t10"):
        carry_out(queue, CANCEL, put(queue, Place(ACTIVE, task, 0, MINE)))
    cancelling.confirm(queue, Place(ACTIVE, "t1", 0, MINE))
    assert os.listdir(queue.directory(CANCELLED)) == [f"t10~{MINE}"]

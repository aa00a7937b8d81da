"""Two watches of one home, one inside of the other: a checkpoint is evaluated by one of them."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from paddock.evaluate.ledger.entry import SKIPPED
from paddock.evaluate.origin.pin import pins
from paddock.evaluate.watching.watch import Watching
from paddock.queue.directory import DirectoryQueue
from paddock.record.layout import Home
from paddock.record.process import me
from tests.unit.evaluate.watching.test_watch import rounds, save, tasks, watcher
from tests.waiting import until


def reasons(watching: Watching) -> list[str]:
    results = (watching.ledger.result(key) for key in watching.ledger.known()[0])
    return [result.reason for result in results if result is not None and result.state == SKIPPED]


def test_whoever_is_first_evaluates_and_the_other_says_so(home: Home, queue: DirectoryQueue, out: Path) -> None:
    (out / "run").mkdir()
    outer, inner = watcher(home, queue, out), watcher(home, queue, out / "run")
    rounds(outer)
    rounds(inner)
    save(out / "run" / "step=1.pt")
    rounds(outer, 3)
    rounds(inner, 3)
    save(out / "run" / "step=2.pt")
    rounds(inner, 3)
    rounds(outer, 3)
    assert tasks(queue) == ["acc step=1.pt", "acc step=2.pt"]
    assert reasons(inner) == [f"the watch of {out} evaluates it"]
    assert reasons(outer) == [f"the watch of {out / 'run'} evaluates it"]


def test_one_that_begins_later_evaluates_nothing_again_also_when_it_is_the_outer(
    home: Home, queue: DirectoryQueue, out: Path
) -> None:
    inner = watcher(home, queue, out / "run", existing=True)
    save(out / "run" / "step=1.pt")
    rounds(inner, 3)
    save(out / "step=1.pt")
    rounds(watcher(home, queue, out, existing=True), 3)
    assert tasks(queue) == ["acc step=1.pt"] * 2  # one of the inner, and the outer's own


def test_another_evaluator_or_another_home_is_not_concerned(
    home: Home, queue: DirectoryQueue, out: Path, tmp_path: Path
) -> None:
    watchers = [watcher(home, queue, out, "acc"), watcher(home, queue, out / "run", "loss")]
    elsewhere = Home(tmp_path / "elsewhere")
    elsewhere.prepare()
    watchers.append(watcher(elsewhere, queue, out, "bleu"))
    (out / "run").mkdir()
    for one in watchers:
        rounds(one)
    save(out / "run" / "step=1.pt")
    for one in watchers:
        rounds(one, 3)
    assert tasks(queue) == ["acc step=1.pt", "bleu step=1.pt", "loss step=1.pt"]


def test_one_that_was_claimed_by_the_dead_is_evaluated_by_the_other(
    home: Home, queue: DirectoryQueue, out: Path
) -> None:
    (out / "run").mkdir()
    outer, inner = watcher(home, queue, out), watcher(home, queue, out / "run")
    rounds(outer)
    rounds(inner)
    save(out / "run" / "step=1.pt")
    child = os.fork()
    if child == 0:  # it dies between its claim and its entry
        inner._entering.by = str(me())
        inner.ledger.put_all = lambda findings: os._exit(0)  # type: ignore[method-assign]
        rounds(inner, 3)
        os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    assert len(os.listdir(home.path / "watches" / ".claims")) == 1
    rounds(outer, 3)
    assert tasks(queue) == ["acc step=1.pt"]


def test_one_that_the_dead_had_only_kept_is_not_evaluated_again_once_the_other_did(
    home: Home, queue: DirectoryQueue, out: Path
) -> None:
    (out / "run").mkdir()
    outer, inner = watcher(home, queue, out), watcher(home, queue, out / "run")
    rounds(outer)
    path = save(out / "run" / "step=1.pt")
    child = os.fork()
    if child == 0:  # it knows of no other, and dies between its pin and its entry
        outer._entering.overlap.is_others = lambda finding: None  # type: ignore[method-assign]
        outer.ledger.put_all = lambda findings: os._exit(0)  # type: ignore[method-assign]
        rounds(outer, 3)
        os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    (pin,) = pins(str(path.parent)).values()
    inner.options = inner._entering.options = replace(inner.options, existing=True)
    rounds(inner, 3)
    path.unlink()
    outer = watcher(home, queue, out)
    until(lambda: [outer.look()] and not os.path.exists(pin))
    assert tasks(queue) == ["acc step=1.pt"]
    assert reasons(outer) == [f"the watch of {out / 'run'} evaluates it"]


def test_one_that_began_in_the_same_moment_is_seen(home: Home, queue: DirectoryQueue, out: Path) -> None:
    (out / "run").mkdir()
    outer = watcher(home, queue, out)
    rounds(outer)
    save(out / "step=0.pt")
    rounds(outer, 3)
    watches = home.path / "watches"
    moment = os.stat(watches).st_mtime_ns
    inner = watcher(home, queue, out / "run")
    rounds(inner)
    save(out / "run" / "step=1.pt")
    rounds(inner, 3)
    os.utime(watches, ns=(moment, moment))  # as if all that had been within one tick of the disk's clock
    rounds(outer, 3)
    assert tasks(queue) == ["acc step=0.pt", "acc step=1.pt"]


@pytest.mark.parametrize("judged", [1, 2])
def test_one_that_begins_while_several_are_entered_at_once_is_seen_for_each_of_them(
    home: Home, queue: DirectoryQueue, out: Path, judged: int
) -> None:
    """It begins when so many of the three were judged, and is faster with all of them."""
    (out / "run").mkdir()
    outer = watcher(home, queue, out)
    rounds(outer)
    for step in range(3):
        save(out / "run" / f"step={step}.pt")
    asked = []

    def training(path: str) -> str:
        asked.append(path)
        if len(asked) == judged:
            rounds(watcher(home, queue, out / "run", existing=True), 3)
        return "train"

    outer._entering.training = training
    rounds(outer, 3)
    assert len(asked) >= judged
    assert tasks(queue) == [f"acc step={step}.pt" for step in range(3)]


def test_two_processes_that_race_evaluate_each_once_also_while_one_of_them_begins(
    home: Home, queue: DirectoryQueue, out: Path
) -> None:
    for training in range(3):
        run = out / f"run{training}"  # nobody watches it yet
        run.mkdir()
        over = home.path / f"over{training}"
        children = [_race(home, queue, out, 0.0, over), _race(home, queue, run, 0.02 * training, over)]
        for step in range(20):
            save(run / f"step={step}.pt")
            time.sleep(0.003)
        until(lambda number=20 * (training + 1): len(queue.list().places) >= number)  # type: ignore[misc]
        over.touch()
        assert [os.waitpid(child, 0)[1] for child in children] == [0, 0]
    assert tasks(queue) == sorted(f"acc step={step}.pt" for step in range(20) for _ in range(3))


def _race(home: Home, queue: DirectoryQueue, where: Path, pause: float, over: Path) -> int:
    child = os.fork()
    if child == 0:
        time.sleep(pause)
        watching = watcher(home, queue, where, existing=True)
        while not over.exists():
            watching.look()
        rounds(watching, 3)  # in which a double one would come
        os._exit(0)
    return child

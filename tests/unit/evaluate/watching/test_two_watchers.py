"""Two watchers of one directory, with the other one acting just where it hurts: between two steps of the first."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from paddock.evaluate.completeness.rule import Completeness
from paddock.evaluate.content import whereabouts
from paddock.evaluate.evaluators.evaluator import Evaluator
from paddock.evaluate.formats.judgement import Judgement
from paddock.evaluate.ledger.entry import DONE, MISSED, Finding, Result
from paddock.evaluate.origin.look import Look, look
from paddock.evaluate.origin.pin import pin, unpin
from paddock.evaluate.origin.scan import DEFAULT_PATTERN, compile_pattern
from paddock.evaluate.watching.options import Options
from paddock.evaluate.watching.watch import Watching
from paddock.queue.directory import DirectoryQueue, Listing
from paddock.queue.lifecycle import STATES
from paddock.record.layout import Home

LONG = 3600.0  # seconds: what has yet to rest is left to the other one


def nothing() -> None:
    """Nobody acts."""


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


class OvertakenQueue(DirectoryQueue):
    """Something happens just after its waiting tasks were listed."""

    then: Callable[[], None] = staticmethod(nothing)

    def list(self, states: Iterable[str] = STATES) -> Listing:
        found = super().list(states)
        if states:
            act, self.then = self.then, nothing
            act()
        return found


class OvertakenCompleteness(Completeness):
    """Something happens just after a checkpoint was found to be complete, and before its content is read."""

    then: Callable[[], None] = staticmethod(nothing)

    def judge(self, look: Look) -> Judgement:
        found = super().judge(look)
        act, self.then = self.then, nothing
        act()
        return found


def watcher(
    home: Home, queue: DirectoryQueue, out: Path, clock: Clock, quiet: float = 0.0, evaluator: str = "acc"
) -> Watching:
    evaluators = (Evaluator(evaluator, {"function": f"m.{evaluator}"}),)
    options = Options(compile_pattern(DEFAULT_PATTERN), evaluators, quiet=quiet)
    return Watching(home, str(out), queue, options, lambda path: "train", lambda text: None, clock=clock)


def entered(watching: Watching) -> Finding:
    (key,) = watching.ledger.known()[0]
    finding = watching.ledger.finding(key)
    assert finding is not None
    return finding


def test_a_pin_stays_when_the_other_submits_after_the_queue_was_listed(
    home: Home, queue: DirectoryQueue, out: Path
) -> None:
    clock, overtaken = Clock(), OvertakenQueue(queue.path)
    slow, quick = watcher(home, overtaken, out, clock, LONG), watcher(home, queue, out, clock)
    slow.look()
    quick.look()
    (out / "step=1.pt").write_text("one")
    here = look(str(out / "step=1.pt"))
    assert here is not None
    key = quick.ledger.key("acc", quick._content(here), here.path)
    pin(here, quick._upkeep.pin_name(key))  # the quick one has come so far
    slow.look()
    assert list(slow._upkeep.suspects) == [quick._entering.origin.pin(here, quick._upkeep.pin_name(key))]
    clock.now += 5  # and the pin is as old as one that somebody who died has left

    def submit() -> None:
        quick.look()
        quick.look()
        (out / "step=1.pt").unlink()  # rotated away: now only its pin has the content

    overtaken.then = submit
    slow.look()
    assert [place.id for place in queue.list().places] == [entered(quick).task]
    assert whereabouts.find(entered(quick), str(out)).path == entered(quick).pin


def test_what_the_other_has_evaluated_is_not_missed_when_it_vanishes_while_it_is_read(
    home: Home, queue: DirectoryQueue, out: Path
) -> None:
    clock = Clock()
    quick = watcher(home, queue, out, clock)
    quick.look()
    (out / "step=1.pt").write_text("one")
    quick.look()
    quick.look()
    finding = entered(quick)
    late = watcher(home, queue, out, clock, LONG)  # it is in the ledger when this one begins
    late.completeness = overtaken = OvertakenCompleteness(late.options.complete)

    def rotate() -> None:
        quick.ledger.put_result(finding.key, Result(state=DONE))
        unpin(finding.pin)
        (out / "step=1.pt").unlink()

    overtaken.then = rotate
    for _ in range(4):
        late.look()
        clock.now += 5
    assert entered(late).key == finding.key  # nothing else was entered, as a missed one would be
    result = late.ledger.result(finding.key)
    assert result is not None and result.state == DONE


def test_what_vanishes_while_it_is_read_is_missed_when_nobody_has_it(
    home: Home, queue: DirectoryQueue, out: Path
) -> None:
    clock = Clock()
    watching = watcher(home, queue, out, clock, LONG)
    watching.completeness = overtaken = OvertakenCompleteness(watching.options.complete)
    watching.look()
    (out / "step=1.pt").write_text("one")
    overtaken.then = (out / "step=1.pt").unlink
    for _ in range(4):
        watching.look()
        clock.now += 5
    result = watching.ledger.result(entered(watching).key)
    assert result is not None and result.state == MISSED


def test_what_waits_in_the_queue_of_the_other_keeps_its_pin_until_it_is_over_there(
    home: Home, queue: DirectoryQueue, out: Path, tmp_path: Path
) -> None:
    clock, other = Clock(), DirectoryQueue(tmp_path / "gpu")
    other.prepare()
    heavy = watcher(home, other, out, clock)
    heavy.look()
    (out / "step=1.pt").write_text("one")
    for _ in range(2):
        heavy.look()
    finding = entered(heavy)
    light = watcher(home, queue, out, clock, evaluator="loss")

    def light_looks() -> None:
        for _ in range(3):
            light.look()
            clock.now += 5

    light_looks()
    assert look(finding.pin) is not None
    (place,) = other.list().places
    assert other.remove(place)
    light_looks()
    assert look(finding.pin) is None

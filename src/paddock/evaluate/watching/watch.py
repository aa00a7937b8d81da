"""Watching a directory: each checkpoint found, judged, entered in the ledger, and submitted, once."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace

from paddock.errors import HomeError
from paddock.evaluate.completeness.rule import Completeness
from paddock.evaluate.completeness.settling import Candidate, Settled, Settling, mark_of
from paddock.evaluate.content.fingerprint import fingerprint
from paddock.evaluate.evaluators import calling
from paddock.evaluate.evaluators.evaluator import Evaluator
from paddock.evaluate.formats.judgement import LONG_QUIET
from paddock.evaluate.ledger.book import Ledger
from paddock.evaluate.ledger.entry import MISSED, Finding, Result
from paddock.evaluate.origin.look import Look, entry_at
from paddock.evaluate.origin.pin import unpin
from paddock.evaluate.origin.place import is_url, open_origin
from paddock.evaluate.origin.scan import Scan
from paddock.evaluate.policy.trainer import NOTHING_KNOWN, Trainings
from paddock.evaluate.training.parentage import Parentage
from paddock.evaluate.training.placing import Placing
from paddock.evaluate.watching.entering import Entering
from paddock.evaluate.watching.options import Options
from paddock.evaluate.watching.overlap import Overlap
from paddock.evaluate.watching.steward import Steward
from paddock.evaluate.watching.trouble import TROUBLE, Trouble, refusal
from paddock.evaluate.watching.upkeep import REPAIR_SECONDS, Upkeep
from paddock.queue.finding import remember
from paddock.queue.protocol import Queue
from paddock.record.layout import Home
from paddock.record.process import me

Places = Collection[str] | None  # None: all
AGAIN_SECONDS = 1.0  # between two looks at one that is not complete, for as long as it is fresh
FRESH_SECONDS = 60.0
BATCH = 50  # checkpoints


@dataclass
class Watching:
    home: Home
    directory: str
    queue: Queue
    options: Options
    training: Callable[[str], str]  # the training run of a checkpoint's path
    say: Callable[[str], None]
    trainings: Trainings = NOTHING_KNOWN
    repair_seconds: float = REPAIR_SECONDS
    clock: Callable[[], float] = time.monotonic
    late: Collection[str] = ()  # evaluators that watched before this directory was there: all in it is new to them
    _settling: Settling = field(default_factory=Settling)
    _candidates: dict[str, Candidate] = field(default_factory=dict)
    _settled: Settled = field(default_factory=Settled)
    _gone: dict[str, int] = field(default_factory=dict)  # candidates that a listing did not show, and how often
    _touched: set[str] = field(default_factory=set)  # that a scan has shown, and nobody has looked at yet
    passed_over: int = 0  # checkpoints that were there before the first watch
    _is_sure: bool = True  # everything could be listed the last time

    def __post_init__(self) -> None:
        # First, for it may refuse: then there is no such watch.
        self._origin = open_origin(self.directory, self.options.pattern, recursive=self.options.recursive)
        self.ledger = Ledger.of(self.home, self.directory)
        remember(self.queue, self.home)
        self.completeness = Completeness(self.options.complete)
        self.placing = Placing(self.ledger, self.trainings.step_at)
        self._trouble = Trouble(self.say)
        self._by = str(me())
        self._keys, bare = self.ledger.known()
        self._upkeep = Upkeep(self.ledger, self.queue, self.home, self.repair_seconds, bare, self.clock)
        self._new = calling.begin(self.ledger, self.options.evaluators)
        rules, names = self.options.rules, [evaluator.name for evaluator in self.options.evaluators]
        self._steward: Steward | None = None
        if not rules.are_plain:
            self._steward = Steward(
                self.home, self.directory, self.queue, self.ledger, rules, names, self.trainings, self.say
            )
        self._entering = Entering(
            home=self.home,
            queue=self.queue,
            ledger=self.ledger,
            options=self.options,
            origin=self._origin,
            training=self.training,
            placing=self.placing,
            upkeep=self._upkeep,
            overlap=Overlap(self.home, self.ledger),
            steward=self._steward,
            trouble=self._trouble,
            say=self.say,
            keys=self._keys,
            by=self._by,
        )

    @property
    def directories(self) -> set[str]:
        return self._origin.directories

    @property
    def unsettled(self) -> int:
        """How many are complete, and have not rested for long enough."""
        return sum(one.judgement.complete and one.due is not None for one in self._candidates.values())

    def evaluate(self, finding: Finding) -> None:
        """Submit what is in the ledger already."""
        self._entering.submit([finding])

    def look(self, changed: Places = None, moved: Collection[str] = (), named: Places = None) -> float | None:
        """One round; the seconds until something is due, None when only a change can be news. `changed`: the only
        directories where something happened, and `named` the very paths; `moved`: those that appeared by a rename.
        What the disk refuses is said, and tried again: the next look is at everything."""
        everything, self._trouble.is_here = self._trouble.is_here, False
        try:
            return self._look(None if everything else changed, moved, None if everything else named)
        except TROUBLE as error:
            return self._trouble.met(self.directory, error)

    def _look(self, changed: Places, moved: Collection[str], named: Places) -> float | None:
        now = self.clock()
        found = self._origin.scan(None if self._new else changed, named)
        self._is_sure = found.sure
        if found.unfit:
            self._trouble.say_once(f"{found.unfit} does not fit --regex-filter, and is passed over", "unfit")
        self._touched |= found.touched
        if self._new and found.sure:
            self._begin(found)
        self._note_gone(found)
        touched = {path for path in self._touched if not self._settled.has_file(path, entry_at(path))}
        paths = sorted(touched | (self._candidates.keys() & found.paths))
        ready = [here for path in paths if (here := self._consider(path, now, path in moved))]
        self._touched = set()
        ready.sort(key=lambda here: here.newest)  # those without a step are numbered in this order
        # Which of them are evaluated may depend on all that came; else a few at a time share their wait for the disk.
        size = len(ready) if self._steward is not None else BATCH
        for first in range(0, len(ready), size or 1):
            self._take(ready[first : first + size])
        self._mend(found, now, changed is None)
        if named is None and isinstance(self.training, Parentage):  # there may be new directories
            self.training.expect(self.directories)
        dues = [candidate.due for candidate in self._candidates.values() if candidate.due is not None]
        dues += self._upkeep.dues
        return max(0.0, min(dues) - self.clock()) if dues else None

    def look_until_settled(self) -> None:
        """Look, and look again until nothing that is complete has yet to rest: for who looks only now and then.
        HomeError, with a sentence, where the disk refuses."""
        try:
            self._look_until_settled()
        except OSError as error:
            raise HomeError(f"{refusal(self.directory, error)}.", hint="What else was found is dealt with.") from None
        if not self._is_sure:
            raise HomeError(
                f"{self.directory} cannot be listed to the end.", hint="Is it mounted, and may you read all of it?"
            )

    def _look_until_settled(self) -> None:
        end = self.clock() + 3 * max(LONG_QUIET, self.options.quiet or 0.0)
        due = self._look(None, (), None)
        if not self._is_sure:  # of another disk nothing is believed the first time
            due = self._look(None, (), None)
        self.completeness.wait()
        while True:
            due = self._look(None, (), None) if due is not None else None
            resting = [one.due for one in self._candidates.values() if one.judgement.complete and one.due is not None]
            if not resting or self.clock() >= end:
                return
            time.sleep(max(0.01, min(resting) - self.clock()))

    def attend(self) -> None:
        """Do what follows from the evaluations so far, by the rules that were given; cheap when nothing is new."""
        if self._steward is None:
            return
        try:
            late = self._steward.attend(self.unsettled)
            if late:
                self._entering.submit(late)
        except TROUBLE as error:
            self._trouble.met(self.directory, error)
        if self._steward.wants_look:
            self.look()

    @property
    def over(self) -> str:
        """Why nothing more is to be expected here; "" while something is."""
        return self._steward.over if self._steward is not None else ""

    @property
    def results(self) -> int:
        """A descriptor that is readable when `attend` has something to do; -1 where nobody tells."""
        return self._steward.fd if self._steward is not None else -1

    def tidy(self) -> bool:
        """Remove the pins of evaluations that have failed, before we leave. True when there may be more in a second."""
        found = None if is_url(self.directory) else self._origin.scan()
        if found is None or not found.sure or not found.pinned:
            return False
        try:
            for _ in self._upkeep.sweep(found.pinned, self._keys):
                pass  # kept, but not entered: the next watcher does that
        except TROUBLE:
            return False  # so does it with these
        return bool(self._upkeep.suspects)

    def close(self) -> None:
        if self._steward is not None:
            self._steward.close()

    def _begin(self, found: Scan) -> None:
        """The first watch of this directory with an evaluator: what is there already is passed over, unless it is
        asked for."""
        new = [one for one in self.options.evaluators if one.name in self._new.difference(self.late)]
        passing = [] if self.options.existing else new
        whole = [(here, fingerprint(here)) for here in self._whole(found)] if passing else []
        keys: dict[str, set[str]] = {}  # by path
        for evaluator in passing:
            unknown: dict[str, Finding] = {}
            for here, content in whole:
                finding = self._entering.finding(here, evaluator, content)
                keys.setdefault(here.path, set()).add(finding.key)
                if finding.key not in self._keys:
                    unknown.setdefault(finding.key, finding)
            if unknown:
                self.ledger.pass_over(evaluator.name, list(unknown.values()))
                self.passed_over = max(self.passed_over, len(unknown))
        self._keys |= self.ledger.passed.read().keys()
        for here, _ in whole if len(passing) == len(self.options.evaluators) else ():
            if keys[here.path] <= self._keys:
                self._settled.add(here)
        for evaluator in self.options.evaluators:
            if evaluator.name in self._new:
                calling.remember(self.ledger, evaluator)
        (self.ledger.path / "begun").touch()
        self._new = set()

    def _whole(self, found: Scan) -> list[Look]:
        """What is there and complete, the oldest first."""
        looks = (self._origin.look(path) for path in found.paths)
        there = sorted((here for here in looks if here is not None), key=lambda here: (here.newest, here.path))
        whole = [here for here in there if self.completeness.judge(here).complete]
        if len(whole) == len(there):
            return whole
        self.completeness.wait()  # a command may have yet to say so
        return [here for here in there if self.completeness.judge(here).complete]

    def _consider(self, path: str, now: float, moved: bool) -> Look | None:
        """What is there, if it is complete and new."""
        here = self._origin.look(path)
        if here is None or self._settled.has(here):
            return None
        self._gone.pop(path, None)
        quiet = self.options.quiet
        # What a link that was put there points to may still be written.
        resting = self._settling.observe(here, now, moved=moved and not os.path.islink(path))
        judgement = self.completeness.judge(here)
        due = self._settling.due(here, judgement, quiet=quiet)
        if due is None and resting < FRESH_SECONDS and self.directories:
            due = now + AGAIN_SECONDS  # nobody tells what happens deep inside of a directory, or beside it
        is_ready = self._settling.is_ready(here, judgement, now, quiet=quiet)
        content = self._sure_content(here) if judgement.complete else ""
        self._candidates[path] = Candidate(here, judgement, due, content).after(self._candidates.get(path))
        return here if is_ready else None

    def _content(self, here: Look) -> str:
        known = self._candidates.get(here.path)
        return known.content if known and known.content and known.look == here else fingerprint(here)

    def _sure_content(self, here: Look) -> str:
        """Empty when it vanished or changed while it was read: then the fingerprint is that of nothing."""
        content, again = self._content(here), self._origin.look(here.path)
        return content if again is not None and mark_of(again) == mark_of(here) else ""

    def _take(self, ready: Sequence[Look]) -> None:
        again = self._entering.enter([(here, self._content(here)) for here in ready])
        for here in ready:
            if here.path in again:
                self._candidates[here.path].due = self.clock() + AGAIN_SECONDS / 4
            else:
                self._settled.add(here)
                self._drop(here.path)

    def _drop(self, path: str) -> None:
        self._candidates.pop(path, None)
        self._settling.forget(path)
        self.completeness.forget(path)

    def _note_gone(self, found: Scan) -> None:
        """What vanished before it had rested was missed, if it was whole. One listing without it is not believed."""
        if not found.sure:
            return
        for path in self._candidates.keys() - found.paths:
            self._gone[path] = self._gone.get(path, 0) + 1
            candidate = self._candidates[path]
            candidate.due = self.clock() + AGAIN_SECONDS / 4
            if self._gone[path] < 2:
                continue
            here = self._origin.look(path)
            # A directory that was listed is a place now, in which others lie; what was not may still be going.
            if here is not None and not (here.appears_whole or path in self.directories):
                continue
            del self._gone[path]
            self._drop(path)
            if here is None and candidate.whole is not None:
                self._miss(candidate.whole)
        self._settled.keep(found.paths)

    def _miss(self, seen: Candidate) -> None:
        content = "gone:" + repr(mark_of(seen.look))
        for evaluator in self.options.evaluators:
            if self._is_others(seen, evaluator):
                continue
            finding = self._entering.finding(seen.look, evaluator, content)
            if self.ledger.put(finding):
                why = "it was deleted before it had rested"
                self.ledger.put_result(finding.key, Result(state=MISSED, reason=why, ended=time.time()))
                self.say(f"missed {finding.path}: {why}")

    def _is_others(self, seen: Candidate, evaluator: Evaluator) -> bool:
        """Whether another watcher was faster, or died just when it had pinned it. One that vanished while we looked has
        no fingerprint; then its path tells, also of what was in the ledger when we began."""
        key = self.ledger.key(evaluator.name, seen.content, seen.look.path)
        if self.ledger.finding(key) is not None or self._upkeep.has_pin(seen.look, key):
            return True
        keys = self.ledger.known()[0]
        found = (self.ledger.finding(key) for key in (keys - self._keys if seen.content else keys))
        same = (one for one in found if one and (one.path, one.evaluator) == (seen.look.path, evaluator.name))
        # What we knew before may be what had the name earlier: it was found before this one was written.
        return any(one.key not in self._keys or one.found * 1e9 >= seen.look.newest for one in same)

    def _mend(self, found: Scan, now: float, everything: bool) -> None:
        """Finish what a watcher that died has begun."""
        for finding in self._upkeep.unsubmitted(now, self._by):
            self._entering.submit([finding])
        if found.sure and (everything or self._upkeep.suspects):
            for here, path in self._upkeep.sweep(found.pinned, self._keys):
                self._adopt(here, path)

    def _adopt(self, kept: Look, path: str) -> None:
        """A checkpoint that was kept, but not entered, and is gone by now: its content is here all the same."""
        content = fingerprint(kept)
        for evaluator in self.options.evaluators:
            finding = self._entering.finding(
                replace(kept, path=path), evaluator, content, kept.path, self.training(path)
            )
            if self._upkeep.pin_name(finding.key) not in kept.path:
                continue
            others = self._entering.overlap.is_others(finding)
            finding = self._entering.placed(kept, finding)
            if others is None and self.ledger.put(finding):
                self._keys.add(finding.key)
                self._entering.submit([finding])
            elif others and self.ledger.skip(finding, others):  # "" is not known yet: it is swept once more
                self._keys.add(finding.key)
                unpin(kept.path)

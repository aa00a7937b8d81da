"""Carries out the rules of one watched directory: learns what came of the evaluations, decides, and acts."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from paddock.evaluate.ledger.book import Ledger
from paddock.evaluate.ledger.entry import SKIPPED, Finding, Result
from paddock.evaluate.origin.pin import unpin
from paddock.evaluate.policy.admission import admit, left_out
from paddock.evaluate.policy.ending import UNKNOWN, Situation, reason
from paddock.evaluate.policy.rules import Rules, StopWhen
from paddock.evaluate.policy.standing import Group, Standing
from paddock.evaluate.policy.tally import Known, Tally
from paddock.evaluate.policy.trainer import Progress, Trainings
from paddock.evaluate.policy.urgency import urgencies
from paddock.evaluate.training.run import is_made
from paddock.evaluate.winners.winners import Winners
from paddock.queue.lifecycle import ACTIVE, CANCELLED, CHECKING, PAUSED, QUEUED, Place
from paddock.queue.order.withdrawal import forget, withdraw, withdrawn
from paddock.queue.protocol import Queue
from paddock.record.layout import Home

ASK_SECONDS = 2.0  # between two looks at whether it is over
_TASK = "eval-"
_UNFINISHED = (QUEUED, PAUSED, CHECKING, ACTIVE, CANCELLED)  # in the order a task goes through them


class Plan(NamedTuple):
    """What becomes of the checkpoints that have just come."""

    order: list[str]  # keys, in the order to enter them
    priorities: Mapping[str, int] = {}
    skip: Mapping[str, str] = {}  # key -> why
    withdraw: Mapping[str, str] = {}  # of what waits


class Steward:
    def __init__(
        self,
        home: Home,
        root: str,
        queue: Queue,
        ledger: Ledger,
        rules: Rules,
        evaluators: Sequence[str],
        trainings: Trainings,
        say: Callable[[str], None],
    ) -> None:
        self._queue, self._ledger, self._rules, self._say = queue, ledger, rules, say
        self.tally = Tally(ledger)
        self._winners = Winners(home, root, ledger, self.tally, rules, evaluators, trainings, say)
        self._progress = Progress(root, rules.done_file, trainings)
        self._came = time.monotonic()  # when the last checkpoint did
        self._news: dict[str, None] = {}  # series of which something is new
        self._calm = 0  # how many looks in a row found nothing that waits or runs
        self._ask = 0.0
        self._has_begun = False
        self._said: set[str] = set()
        self.over = ""  # why nothing more is to be expected
        self.wants_look = False  # at everything, before it is over
        self._begin()

    def _begin(self) -> None:
        self._read()
        for task in set(withdrawn(self._queue)):
            known = self.tally.get(task.removeprefix(_TASK))
            if known is not None:  # its watcher died before it had noted why
                self._note_withdrawn(known, "coalesced: a newer one came before its turn")

    @property
    def fd(self) -> int:
        return self.tally.fd

    def close(self) -> None:
        self._winners.close()
        self.tally.close()

    # What comes

    def plan(self, coming: Sequence[tuple[Group, Standing]]) -> Plan:
        self._came = time.monotonic() if coming else self._came
        self._read()
        waiting = self._waiting() if coming and (self._rules.max_pending or self._rules.newest_first) else {}
        priorities: dict[str, int] = {}
        skip: dict[str, str] = {}
        back: dict[str, str] = {}
        for group in dict.fromkeys(group for group, _ in coming):
            arrived = [one for other, one in coming if other == group]
            before = [one for one in self.tally.of(group) if not one.finding.fingerprint.startswith("gone:")]
            there = [(known.standing, waiting[known.finding.key]) for known in before if known.finding.key in waiting]
            found = admit(arrived, len(before), [one for one, _ in there], self._rules.every, self._rules.max_pending)
            skip |= found.skip
            back |= found.withdraw
            if self._rules.newest_first:
                pairs = [(one, place.priority) for one, place in there]
                priorities |= urgencies(found.submit, pairs, time.time())
        return Plan(self._order(coming, skip), priorities, skip, back)

    def priorities(self, findings: Sequence[Finding]) -> dict[str, int]:
        """Of what was entered earlier, and is submitted only now."""
        if not self._rules.newest_first:
            return {}
        self._read()
        waiting = self._waiting()
        found: dict[str, int] = {}
        for known in filter(None, (self.tally.get(finding.key) for finding in findings)):
            others = [one for one in self.tally.of(known.group) if one.finding.key in waiting]
            pairs = [(one.standing, waiting[one.finding.key].priority) for one in others]
            found |= urgencies([known.standing], pairs, time.time())
        return found

    def _order(self, coming: Sequence[tuple[Group, Standing]], skip: Mapping[str, str]) -> list[str]:
        """Where numbers count, that of the numbers: then they are the same should we die halfway. Else those first that
        a worker may begin with."""
        order = sorted((one for _, one in coming), key=lambda one: one.order, reverse=self._rules.newest_first)
        if self._rules.every > 1:
            order.sort(key=lambda one: one.order)
        else:
            order.sort(key=lambda one: one.key in skip)
        return [one.key for one in order]

    def withdraw(self, plan: Plan) -> None:
        """Take back what gives way to newer ones, unless a worker was faster: then it is evaluated."""
        if not plan.withdraw:
            return
        waiting = self._waiting()
        for key, why in plan.withdraw.items():
            known, place = self.tally.get(key), waiting.get(key)
            if known is not None and place is not None and withdraw(self._queue, place):
                self._note_withdrawn(known, why)

    def _note_withdrawn(self, known: Known, why: str) -> None:
        known.result = Result(state=SKIPPED, reason=why, ended=time.time())
        self._ledger.put_result(known.finding.key, known.result)
        unpin(known.finding.pin)
        forget(self._queue, known.finding.task)
        self._say(f"skipped {known.finding.path}: {why}")

    def _waiting(self) -> dict[str, Place]:
        places = self._queue.list((QUEUED,)).places
        return {p.id.removeprefix(_TASK): p for p in places if p.token is None and p.id.startswith(_TASK)}

    # What became of it

    def attend(self, settling: int) -> list[Finding]:
        """Look at what is new in the ledger, and act on it; what is to be submitted after all."""
        self._read()
        news, self._news = self._news, {}
        try:
            if not self._has_begun:
                self._winners.begin()
                self._has_begun = True
            self._winners.judge(news)
        except OSError as error:  # a full disk, one that is away: evaluating goes on, and this is tried again
            self._news = news | self._news
            self._say_once(f"what follows from the scores cannot be done now ({error.strerror or error})")
        # Whether it is over is asked at once when it may be, else now and then.
        if not news and not self._calm and time.monotonic() < self._ask:
            return []
        self._ask = time.monotonic() + ASK_SECONDS
        return self._end(settling)

    def _read(self) -> None:
        self._news |= {known.group.series: None for known in self.tally.refresh()}

    def _end(self, settling: int) -> list[Finding]:
        rules = self._rules
        if not rules.stop_when.training_done and not rules.stop_when.idle and rules.every == 1:
            return []
        training = self._progress.of([group.series for group in self.tally.groups()], self._winners.run_of)
        if training == UNKNOWN and rules.stop_when == StopWhen(training_done=True) and not rules.done_file:
            self._hint()
        why = reason(rules.stop_when, Situation(training, settling, time.monotonic() - self._came))
        is_over = why or reason(rules.stop_when._replace(training_done=True), Situation(training, settling, 0.0))
        left = self._last_ones() if rules.every > 1 and is_over else []
        if not why or left or self._is_busy():
            self._calm, self.wants_look, self.over = 0, False, ""
            return left
        self._calm += 1
        self.wants_look = self._calm == 1  # what was written in the last moment
        self.over = why if self._calm > 2 else ""
        return []

    def _hint(self) -> None:
        made = next((one for one in self.tally.groups() if is_made(self._winners.run_of(one.series))), None)
        if made is not None:
            self._say_once(
                f"{made.series}: no run is recorded of this training, so only --done-file or idle=2h ends the watch"
            )

    def _say_once(self, text: str) -> None:
        if text not in self._said:
            self._said.add(text)
            self._say(text)

    def _last_ones(self) -> list[Finding]:
        """The final checkpoint of each training is evaluated whatever its number."""
        found = []
        for group in self.tally.groups():
            last = left_out([(known.standing, known.skipped) for known in self.tally.of(group)])
            known = self.tally.get(last.key) if last else None
            if known is not None:
                self._ledger.retract(known.finding.key)
                known.result = None
                found.append(known.finding)
        return found

    def _is_busy(self) -> bool:
        if self.tally.unsubmitted():
            return True
        listing = self._queue.list(_UNFINISHED)
        ours = (place for place in listing.places if place.id.startswith(_TASK))
        return not listing.sure or any(self.tally.get(place.id.removeprefix(_TASK)) for place in ours)

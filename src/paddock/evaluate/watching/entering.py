"""From a checkpoint that is ready to the task that evaluates it: planned, kept, put into the ledger once, submitted."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

import msgspec

from paddock.evaluate.content.constancy import has_content, kept
from paddock.evaluate.evaluators.evaluator import Evaluator
from paddock.evaluate.ledger.book import Ledger
from paddock.evaluate.ledger.entry import SKIPPED, Finding, Result
from paddock.evaluate.origin.look import Look
from paddock.evaluate.origin.pin import unpin
from paddock.evaluate.origin.place import Origin
from paddock.evaluate.origin.series import series_of
from paddock.evaluate.policy.standing import Group, Standing
from paddock.evaluate.training.metadata import step_for
from paddock.evaluate.training.placing import Placing
from paddock.evaluate.training.run import is_made
from paddock.evaluate.training.steps import step_of
from paddock.evaluate.watching.anew import evaluate_anew
from paddock.evaluate.watching.options import Options
from paddock.evaluate.watching.overlap import Overlap
from paddock.evaluate.watching.sending import send
from paddock.evaluate.watching.steward import Plan, Steward
from paddock.evaluate.watching.trouble import TROUBLE, Trouble
from paddock.evaluate.watching.upkeep import Upkeep
from paddock.queue.protocol import Queue
from paddock.record.layout import Home

NO_PRIORITIES: Mapping[str, int] = {}
New = Mapping[str, tuple[Look, Evaluator, str]]  # by key: what is there, by what to evaluate it, its fingerprint


@dataclass
class Entering:
    home: Home
    queue: Queue
    ledger: Ledger
    options: Options
    origin: Origin
    training: Callable[[str], str]
    placing: Placing
    upkeep: Upkeep
    overlap: Overlap
    steward: Steward | None
    trouble: Trouble
    say: Callable[[str], None]
    keys: set[str]  # of all that is known to be in the ledger
    by: str  # who we are
    _entered: dict[str, str] = field(default_factory=dict)  # the keys of what came in our time, and under which path

    def enter(self, ready: Iterable[tuple[Look, str]]) -> set[str]:
        """Each with its fingerprint. The paths of those that are to be looked at again: they changed under our eyes, or
        another watch is about to say whether it evaluates them."""
        new: dict[str, tuple[Look, Evaluator, str]] = {}
        for here, content in ready:
            for evaluator in self.options.evaluators:
                key = self.ledger.key(evaluator.name, content, here.path)
                if key in new and not _says_more(here.path, new[key][0].path):
                    self._tell_of_copy(here.path, new[key][0].path)
                    continue
                if key in new or not self._is_known(key, evaluator, here, content):
                    new[key] = (here, evaluator, content)
                else:
                    self._tell_of_copy(here.path, self._entered.get(key, here.path))
        return self._enter(new) if new else set()

    def _tell_of_copy(self, path: str, known: str) -> None:
        """Of another step: with the same content, which is once evaluated, it has no score of its own."""
        mine, other = step_of(path), step_of(known)
        if mine is not None and other is not None and mine != other:
            self.trouble.say_once(f"{path} has the content of {known}, and is not evaluated once more")

    def _is_known(self, key: str, evaluator: Evaluator, here: Look, content: str) -> bool:
        if key in self.keys:
            return not self.ledger.was_missed(key)  # or it is back
        return self.ledger.has_old(evaluator.name, content, here.path, self.keys) or self._is_copy(
            evaluator, here, content
        )

    def _is_copy(self, evaluator: Evaluator, here: Look, content: str) -> bool:
        """Whether the training has it already in a directory above: of one training that is recorded, for else nobody
        knows that it is one."""
        for key in self.ledger.keys_above(evaluator.name, content, here.path):
            known = self.ledger.finding(key) if key in self.keys else None
            if known is None or not known.run or is_made(known.run):
                continue
            is_there = self.ledger.key(evaluator.name, content, known.path) == key  # and not a key of long ago
            if is_there and known.run == self.training(here.path):
                return True
        return False

    def _enter(self, new: New) -> set[str]:
        plan = self._plan(new)
        again: set[str] = set()
        findings: list[Finding] = []
        skip = dict(plan.skip)
        now = time.time()  # of all: that one is entered before another does not make it older
        for key in plan.order:
            here, evaluator, content = new[key]
            finding = msgspec.structs.replace(self.finding(here, evaluator, content), found=round(now, 6))
            if key not in skip and (found := self.overlap.is_others(finding)) is not None:
                if not found:
                    again.add(here.path)
                    continue
                skip[key] = found
            pinned = "" if key in skip else kept(self.origin, here, self.upkeep.pin_name(key), self.trouble.say_once)
            if not has_content(self.origin, here, pinned, content):
                unpin(pinned)
                again.add(here.path)
                continue
            finding = msgspec.structs.replace(finding, pin=pinned, run=self.training(here.path))
            findings.append(self.placed(here, finding))
        # In the order of the plan: should we die halfway, the next watcher plans the rest as we did.
        for is_skipped, some in groupby(findings, lambda finding: finding.key in skip):
            if is_skipped:
                self._skip(some, skip)
            else:
                self._put(list(some), plan.priorities)
        if self.steward is not None:
            self.steward.withdraw(plan)
        return again

    def _plan(self, new: New) -> Plan:
        if self.steward is None:
            return Plan(list(new))
        now = round(time.time(), 6)
        return self.steward.plan(
            [
                (
                    Group(series_of(here.path), evaluator.name),
                    Standing(key, step_for(here, self.options.step_rule), here.path, now),
                )
                for key, (here, evaluator, _) in new.items()
            ]
        )

    def _skip(self, findings: Iterable[Finding], reasons: Mapping[str, str]) -> None:
        for finding in findings:
            if self.ledger.skip(finding, reasons[finding.key]):
                self.say(f"skipped {finding.path}: {reasons[finding.key]}")
            self.keys.add(finding.key)

    def _put(self, findings: Sequence[Finding], priorities: Mapping[str, int]) -> None:
        back = [finding for finding in findings if finding.key in self.keys]
        for finding in back:
            if evaluate_anew(self.ledger, self.queue, finding, self.by, lambda one: self.submit([one])):
                self.say(f"found {finding.path}, which was missed before")
        findings = [finding for finding in findings if finding.key not in self.keys]
        try:
            ours = self.ledger.put_all(findings)
        except OSError:
            for finding in findings:
                self.upkeep.retry(finding.key, certain=False)  # some may be in the ledger all the same
            raise
        self.keys |= {finding.key for finding in findings}  # not before they are in the ledger
        self._entered |= {finding.key: finding.path for finding in findings}
        for finding in findings:
            if finding.key not in ours:
                self.upkeep.suspect(finding.key)  # another watcher has it; unless it died just then
        put = [finding for finding in findings if finding.key in ours]
        lost = {finding.key: why for finding in put if (why := self.overlap.is_lost(finding))}
        self._give_up([finding for finding in put if finding.key in lost], lost)
        self.submit([finding for finding in put if finding.key not in lost], priorities)

    def _give_up(self, findings: Iterable[Finding], reasons: Mapping[str, str]) -> None:
        """Another watch of the same checkpoints began just now, and was faster."""
        for finding in findings:
            result = Result(state=SKIPPED, reason=reasons[finding.key], ended=time.time())
            self.ledger.put_result(finding.key, result)
            unpin(finding.pin)

    def finding(self, here: Look, evaluator: Evaluator, content: str, pinned: str = "", run: str = "") -> Finding:
        return Finding(
            key=self.ledger.key(evaluator.name, content, here.path),
            evaluator=evaluator.name,
            call=dict(evaluator.call),
            path=here.path,
            fingerprint=content,
            step=step_for(here, self.options.step_rule),
            run=run,
            pin=pinned,
            download=self.options.download,
            by=self.by,
            queue=self.queue.address,
            found=round(time.time(), 6),
        )

    def placed(self, here: Look, finding: Finding) -> Finding:
        return msgspec.structs.replace(finding, place=self.placing.of(finding, here.newest))

    def submit(self, findings: Sequence[Finding], priorities: Mapping[str, int] = NO_PRIORITIES) -> None:
        if not findings:
            return
        if self.steward is not None:
            priorities = priorities or self.steward.priorities(findings)
        try:
            send(findings, priorities, self.ledger, self.options, self.queue, self.home)
        except TROUBLE:
            for finding in findings:
                self.upkeep.retry(finding.key, certain=True)
            raise
        for finding in findings:
            self.ledger.mark_submitted(finding.key)
            self.upkeep.clear(finding.key)
        for path, step in dict.fromkeys((finding.path, finding.step) for finding in findings):
            self.say(f"found {path}" + (f" (step {step})" if step is not None else ""))


def _says_more(path: str, than: str) -> bool:
    """Of two names for one content that come at once, that which says the step is told: step_20.pt, not best.pt."""
    return step_of(than) is None and step_of(path) is not None

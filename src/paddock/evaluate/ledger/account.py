"""How the evaluations of a watch stand: what the ledger says of each, and where its task is in the queue."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from paddock import files
from paddock.errors import Damaged
from paddock.evaluate.ledger.book import FOUND, RESULT, SUBMITTED, WITHDRAWN, Ledger
from paddock.evaluate.ledger.entry import BEFORE, DONE, FAILED, MISSED, SKIPPED, VOID, Finding, Result
from paddock.queue import lifecycle
from paddock.queue.finding import queue_at
from paddock.queue.lifecycle import Place
from paddock.queue.protocol import AWAY, Queue
from paddock.queue.show.view import IN_ORDER

PENDING, RUNNING, CANCELLED = "pending", "running", "cancelled"
STATES = (PENDING, RUNNING, DONE, FAILED, MISSED, SKIPPED, VOID, CANCELLED)


class Evaluation(NamedTuple):
    """One checkpoint and one evaluator."""

    finding: Finding
    state: str
    reason: str = ""
    result: Result | None = None

    @property
    def waited(self) -> float | None:
        """Seconds from when it was found until the evaluator was called."""
        if self.result is None or not self.result.started or not self.finding.found:
            return None
        return max(0.0, self.result.started - self.finding.found)

    @property
    def took(self) -> float | None:
        """Seconds that the evaluator needed."""
        if self.result is None or not self.result.started or not self.result.ended:
            return None
        return max(0.0, self.result.ended - self.result.started)


class Tasks(NamedTuple):
    """Where the evaluations' tasks are."""

    places: Mapping[str, tuple[Queue, Place]]
    sure: bool  # every queue could be listed
    queues: frozenset[str] = frozenset()

    def and_of(self, open_: Iterable[Finding]) -> Tasks:
        """Also in the queues that these were submitted to: two watches of a directory may have one each."""
        more = {one.queue for one in open_ if one.queue and one.task not in self.places} - self.queues
        if not more:
            return self
        found = tasks(sorted(more))
        return Tasks({**found.places, **self.places}, self.sure and found.sure, self.queues | found.queues)


def tasks(queues: Iterable[str]) -> Tasks:
    places: dict[str, tuple[Queue, Place]] = {}
    sure, queues = True, tuple(queues)
    for path in queues:
        queue = queue_at(path)
        try:
            listing = queue.list(IN_ORDER)
        except AWAY:
            sure = False
            continue
        sure = sure and listing.sure
        places |= {place.id: (queue, place) for place in listing.places if place.id.startswith("eval-")}
    return Tasks(places, sure, frozenset(queues))


class Account:
    """Reads a ledger again and again; only what is new costs anything."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._findings: dict[str, Finding] = {}
        self._results: dict[str, tuple[int, Result]] = {}

    def read(self, where: Tasks) -> list[Evaluation]:
        """Every evaluation, in the order in which they were found."""
        submitted: set[str] = set()
        withdrawn: set[str] = set()
        results: dict[str, tuple[int, Result]] = {}
        for name, changed in _listed(self._ledger.directory):
            key, dot, end = name.rpartition(".")
            if dot + end == FOUND and key not in self._findings:
                if (finding := self._ledger.finding(key)) is not None:
                    self._findings[key] = finding
            elif dot + end == SUBMITTED:
                submitted.add(key)
            elif dot + end == WITHDRAWN:
                withdrawn.add(key)
            elif dot + end == RESULT:
                known = self._results.get(key)
                if known is not None and known[0] == changed:
                    results[key] = known
                elif (result := self._ledger.result(key)) is not None:
                    results[key] = (changed, result)
        self._results = results
        where = where.and_of(self._findings[key] for key in submitted & self._findings.keys() - results.keys())
        found = [
            judge(finding, self._results.get(key, (0, None))[1], where, key in submitted, key in withdrawn)
            for key, finding in self._findings.items()
        ]
        before = self._ledger.passed.read().items()
        found += [Evaluation(one, SKIPPED, BEFORE) for key, one in before if key not in self._findings]
        return sorted(found, key=lambda one: (one.finding.found, one.finding.path, one.finding.evaluator))


def judge(
    finding: Finding, result: Result | None, where: Tasks, submitted: bool, withdrawn: bool = False
) -> Evaluation:
    """A task on its way goes before an earlier result: somebody evaluates it anew."""
    queue, place = where.places.get(finding.task, (None, None))
    if place is not None and place.state in (lifecycle.QUEUED, lifecycle.CHECKING, lifecycle.PAUSED):
        return Evaluation(finding, PENDING, "it is paused" if place.state == lifecycle.PAUSED else "")
    if place is not None and place.state == lifecycle.ACTIVE:
        return Evaluation(finding, RUNNING)
    if result is not None:
        return Evaluation(finding, result.state, result.reason, result)
    if queue is not None and place is not None and place.state == lifecycle.FAILED:
        return Evaluation(finding, FAILED, _why(queue, place))
    if place is not None and place.state == lifecycle.DONE:
        return Evaluation(finding, FAILED, "it ended without a result")
    if place is None and withdrawn:
        return Evaluation(finding, PENDING, "it was taken back; the next watch evaluates it")
    if place is None and submitted and where.sure:
        return Evaluation(finding, CANCELLED, "its task was taken out of the queue")
    return Evaluation(finding, PENDING)


def counts(evaluations: Iterable[Evaluation]) -> dict[str, int]:
    found = dict.fromkeys(STATES, 0)
    for one in evaluations:
        found[one.state] = found.get(one.state, 0) + 1
    return found


def _why(queue: Queue, place: Place) -> str:
    """It ended without a word of its own: killed, out of time or memory."""
    try:
        attempts = queue.read(place).attempts
    except (OSError, Damaged):
        return ""
    if not attempts:
        return ""
    last = attempts[-1]
    if last.outcome == "timed out":
        return f"timed out after {last.seconds:.0f} s" if last.seconds else last.outcome
    return last.exit or last.outcome


def _listed(directory: Path) -> list[tuple[str, int]]:
    """Names, and of results when they were put there."""
    found = []
    for entry in files.entries(directory):
        if not entry.name.startswith("."):
            try:
                found.append((entry.name, entry.stat().st_mtime_ns if entry.name.endswith(RESULT) else 0))
            except FileNotFoundError:  # taken away since it was listed
                continue
    return found

"""Where the scores of a checkpoint go that does not say its step: where the training was when it was written, or its
number among those of its training."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from paddock.evaluate.ledger.book import Ledger
from paddock.evaluate.ledger.entry import Finding
from paddock.evaluate.origin.series import series_of

NANOSECONDS = 1e9


class Placing:
    def __init__(self, ledger: Ledger, step_at: Callable[[str, float], int | None]) -> None:
        self._ledger, self._step_at = ledger, step_at
        self._counts: Counter[tuple[str, str]] | None = None  # that were found, by training and evaluator
        self._numbers: dict[str, int] = {}  # by key

    def of(self, finding: Finding, written: int) -> int | None:
        """A step for one that has none; `written`: when, in nanoseconds. All are counted, those with a step too."""
        number = self._number(finding)
        if finding.step is not None:
            return None
        step = self._step_at(finding.run, written / NANOSECONDS) if finding.run and written else None
        return number if step is None else step

    def _number(self, finding: Finding) -> int:
        if self._counts is None:
            if finding.step is not None:
                return 0  # nobody needs to know yet, and a ledger may be long
            self._counts = Counter()
            found = filter(None, (self._ledger.finding(key) for key in self._ledger.known()[0]))
            for one in sorted(found, key=lambda one: one.found):
                if not one.fingerprint.startswith("gone:"):  # that was none that anybody evaluates
                    self._count(self._counts, one)
        return self._numbers.get(finding.key) or self._count(self._counts, finding)

    def _count(self, counts: Counter[tuple[str, str]], finding: Finding) -> int:
        group = series_of(finding.path), finding.evaluator
        counts[group] += 1
        self._numbers[finding.key] = counts[group]
        return counts[group]

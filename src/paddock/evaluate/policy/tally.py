"""What the ledger says, kept in memory: read whole once, then only what is new. The kernel tells which files
came; where it does not, the time of the directory says whether a listing is worth it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass

from paddock import files
from paddock.evaluate.ledger.book import FOUND, RESULT, SUBMITTED, Ledger
from paddock.evaluate.ledger.entry import SKIPPED, Finding, Result
from paddock.evaluate.origin.series import series_of
from paddock.evaluate.policy.bell import BELL
from paddock.evaluate.policy.standing import Group, Standing

DELETED = ".deleted"


@dataclass
class Known:
    finding: Finding
    standing: Standing
    group: Group
    result: Result | None = None
    submitted: bool = False
    deleted: bool = False

    @property
    def skipped(self) -> str:
        """Why it was passed over, if it was."""
        return self.result.reason or SKIPPED if self.result is not None and self.result.state == SKIPPED else ""


class Tally:
    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._ear = BELL.listen(ledger.directory)
        self._times: dict[str, int] = {}  # of each file, where listings decide
        self._listed = -1  # the directory's time at the last listing
        self._known: dict[str, Known] = {}
        self._groups: dict[Group, list[str]] = {}
        self._contents: dict[str, list[str]] = {}  # fingerprint -> keys
        self._all_read = False

    @property
    def fd(self) -> int:
        """Readable when something new is in a ledger; -1 where nobody tells."""
        return BELL.fd

    def close(self) -> None:
        BELL.forget(self._ear)

    def refresh(self) -> list[Known]:
        """Read what is new; those of which something is new."""
        names: Iterable[str] | None = BELL.news(self._ear)
        if names is None or not self._all_read:
            names = self._changed_files()
        if not self._all_read:
            self._add_passed()
        self._all_read = True
        touched = dict.fromkeys(name.partition(".")[0] for name in names if self._read(name))
        return [self._known[key] for key in touched if key in self._known]

    def add(self, finding: Finding) -> None:
        if finding.key in self._known:
            return
        group = Group(series_of(finding.path), finding.evaluator)
        standing = Standing(finding.key, finding.step, finding.path, finding.found)
        self._known[finding.key] = Known(finding, standing, group)
        self._groups.setdefault(group, []).append(finding.key)
        self._contents.setdefault(finding.fingerprint, []).append(finding.key)

    def _add_passed(self) -> None:
        """What was there before counts as what was passed over later does."""
        for key, finding in self._ledger.passed.read().items():
            self.add(finding)
            self._known[key].result = self._ledger.result(key)

    def get(self, key: str) -> Known | None:
        return self._known.get(key)

    def groups(self) -> list[Group]:
        return list(self._groups)

    def of(self, group: Group) -> list[Known]:
        return [self._known[key] for key in self._groups.get(group, ())]

    def of_series(self, series: str) -> list[Known]:
        return [one for group in self._groups if group.series == series for one in self.of(group)]

    def of_content(self, fingerprint: str) -> list[Known]:
        return [self._known[key] for key in self._contents.get(fingerprint, ())]

    def unsubmitted(self) -> bool:
        return any(not one.submitted and one.result is None for one in self._known.values())

    def _read(self, name: str) -> bool:
        key, dot, kind = name.partition(".")
        if key not in self._known:
            finding = self._ledger.finding(key)
            if finding is None:
                return False
            self.add(finding)
            # What came before the finding itself could be read was told in vain.
            self._known[key].result = self._ledger.result(key)
        known = self._known[key]
        if dot + kind == FOUND:
            known.finding = self._ledger.finding(key) or known.finding  # somebody wants it evaluated anew
            return True
        if dot + kind == RESULT:
            known.result = self._ledger.result(key)
        elif dot + kind == SUBMITTED:
            known.submitted = True
        elif dot + kind == DELETED:
            known.deleted = True
        else:
            return False
        return True

    def _changed_files(self) -> list[str]:
        try:
            descriptor = os.open(self._ledger.directory, os.O_RDONLY | os.O_DIRECTORY)  # a fresh one: NFS asks then
        except OSError:
            return []
        try:
            now = os.fstat(descriptor).st_mtime_ns
        finally:
            os.close(descriptor)
        if now == self._listed and self._all_read:
            return []
        found: list[str] = []
        for entry in files.entries(self._ledger.directory):
            if entry.name.startswith("."):
                continue
            try:
                time = entry.stat().st_mtime_ns
            except OSError:
                continue
            if self._times.get(entry.name) != time:
                self._times[entry.name] = time
                found.append(entry.name)
        self._listed = now
        return sorted(found)  # .json before .result and .submitted

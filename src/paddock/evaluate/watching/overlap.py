"""Watches of one home whose directories lie inside of each other: each checkpoint is evaluated by one of them.

    watches/.claims/<hash>.<n>    which watch evaluates a content of a training with an evaluator

Two watches have a ledger each, so neither alone can say who evaluates: the claim does, which is put there once. It is
only made where directories overlap. A watch that does not know yet of another that has just begun looks once more when
its entry is made: what it entered before the other began, the other sees; what it entered later, it claims.
"""

from __future__ import annotations

import time
from hashlib import blake2b

from paddock import files, wire
from paddock.evaluate.ledger.book import Ledger
from paddock.evaluate.ledger.entry import MISSED, SKIPPED, VOID, Finding
from paddock.evaluate.origin.place import training_of
from paddock.evaluate.watching.upkeep import is_gone
from paddock.record.layout import Home

LATE_SECONDS = 60.0  # a watch of another machine that has claimed one, and has not entered it by then, is dead
_directories: dict[str, str] = {}  # of this process: the path of a ledger -> the directory that is watched


class Overlap:
    def __init__(self, home: Home, ledger: Ledger) -> None:
        self._watches, self._mine = home.path / "watches", ledger
        self._claims = self._watches / ".claims"
        self._looked: set[str] = set()  # the watches whose directories are known
        self._others: list[Ledger] = []
        self._seen: dict[str, float] = {}  # claims of others -> since when we see them
        self._alone: set[str] = set()  # keys that were ours because nobody else was known: they have no claim

    def is_others(self, finding: Finding) -> str | None:
        """Why it is for another watch to evaluate it; "" when that has yet to be seen; None when it is ours."""
        self._look()
        if not self._others:
            self._alone.add(finding.key)
            return None
        for other in self._others:
            if self._has(other, finding):
                return _reason(other)
        return self._claim(finding)

    def is_lost(self, finding: Finding) -> str:
        """After we have entered it: why it is another's all the same, "" when it is not."""
        if finding.key not in self._alone:
            return ""
        self._alone.discard(finding.key)
        self._look()
        if not self._others:
            return ""
        while (found := self._claim(finding)) == "":
            time.sleep(0.05)  # whoever has it enters it, or dies
        return found or ""

    def _claim(self, finding: Finding) -> str | None:
        name, number = _name(finding), 1
        while True:
            path = self._claims / f"{name}.{number}"
            try:
                watch, _, who = path.read_text("utf-8", "replace").partition(" ")
            except OSError:
                self._claims.mkdir(exist_ok=True)
                if files.write_once(path, f"{self._mine.path.name} {finding.by}".encode()):
                    return None
                continue
            if watch == self._mine.path.name:
                return None  # another watcher of the same directory may have put it: our ledger tells us apart
            other = Ledger(self._watches / watch)
            if self._has(other, finding):
                return _reason(other)
            late = time.monotonic() - self._seen.setdefault(str(path), time.monotonic()) >= LATE_SECONDS
            if not is_gone(who, late):
                return ""
            number += 1  # it died before it had entered it

    def _has(self, other: Ledger, finding: Finding) -> bool:
        """Whether it was entered there to be evaluated."""
        key = other.key(finding.evaluator, finding.fingerprint, finding.path)
        found = other.finding(key)
        if found is None or found.call != finding.call:
            return False
        result = other.result(key)
        return result is None or result.state not in (SKIPPED, MISSED, VOID)

    def _look(self) -> None:
        """Which watches there are, by a listing: the time of a directory is the same for changes of the same moment, so
        that one which begins together with us would stay unseen. Who has not said yet what it watches is looked at
        again: it looks at our entries after it has said so."""
        names = {entry.name for entry in files.entries(self._watches) if entry.name[0] != "."}
        mine = _directory_of(self._mine)
        self._looked &= names
        self._others = [one for one in self._others if one.path.name in names]
        for name in names - self._looked:
            other = Ledger(self._watches / name)
            directory = _directory_of(other)
            if directory and other.path != self._mine.path and _nested(directory, mine):
                self._others.append(other)
            if directory:
                self._looked.add(name)


def _directory_of(ledger: Ledger) -> str:
    known = _directories.get(str(ledger.path))
    if not known and (known := ledger.watched):
        _directories[str(ledger.path)] = known
    return known or ""


def _nested(one: str, other: str) -> bool:
    short, long = sorted((one.rstrip("/") + "/", other.rstrip("/") + "/"), key=len)
    return len(short) > 1 and long.startswith(short)


def _name(finding: Finding) -> str:
    """The same from every watch: the training by its whole path."""
    who = f"{finding.evaluator}\0{wire.dumps(finding.call).decode()}\0{training_of(finding.path, '/')}"
    return blake2b(f"{who}\0{finding.fingerprint}".encode("utf-8", "surrogateescape"), digest_size=12).hexdigest()


def _reason(other: Ledger) -> str:
    return f"the watch of {_directory_of(other)} evaluates it"

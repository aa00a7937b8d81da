"""What was found, and what became of it: one file for each content and evaluator, put there once.

    watches/<id>/watch.json                    the directory that is watched, and a mark for its pins
    watches/<id>/ledger/<key>.json             a checkpoint was found: whoever puts this file submits its evaluation
    watches/<id>/ledger/<key>.submitted        its task is in the queue
    watches/<id>/ledger/<key>.claim<n>         its finder died, and this one submits it instead
    watches/<id>/ledger/<key>.result           what became of it
    watches/<id>/before/                       what was there before, and is passed over (`passed`)

The key is a hash of the evaluator, the training and the checkpoint's content, and so is the task's id. So a watcher
that dies between two of these steps is finished by the next one, and two watchers on one directory never evaluate
twice.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from hashlib import blake2b
from pathlib import Path

from paddock import files, wire
from paddock.evaluate.ledger import passed
from paddock.evaluate.ledger.entry import (
    BEFORE,
    MISSED,
    SKIPPED,
    VOID,
    Finding,
    Result,
    decode_finding,
    decode_result,
    encode,
)
from paddock.evaluate.ledger.passed import Passed
from paddock.evaluate.origin.place import real, training_of
from paddock.queue import commit
from paddock.record.layout import Home

FOUND, SUBMITTED, RESULT = ".json", ".submitted", ".result"
WITHDRAWN = ".withdrawn"  # taken back by a shutdown, until somebody watches again
_TOGETHER = 50  # files that wait for the disk together: a process may have 1,024 open


class Ledger:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.directory = path / "ledger"
        self.passed = Passed(path)
        self._root = ""  # the directory, once it is known

    @classmethod
    def of(cls, home: Home, directory: str) -> Ledger:
        """The same for every watcher of a directory, whatever they call it."""
        ledger = cls.if_any(home, directory)
        ledger.directory.mkdir(parents=True, exist_ok=True)
        about = {"v": 1, "directory": wire.text(ledger._root), "mark": secrets.token_hex(4)}
        files.write_once(ledger.path / "watch.json", wire.dumps(about))
        return ledger

    @classmethod
    def if_any(cls, home: Home, directory: str) -> Ledger:
        """To look into, before it is certain that the directory can be watched: nothing is made."""
        place = real(directory)
        ledger = cls(home.path / "watches" / watch_id(place))
        ledger._root = place
        return ledger

    @property
    def watched(self) -> str:
        """The directory; "" when nobody has said so."""
        return self._about("directory")

    @property
    def mark(self) -> str:
        """What tells it from the ledgers that other homes have of the same directory."""
        return self._about("mark")

    def _about(self, name: str) -> str:
        raw = _read(self.path / "watch.json")
        found = wire.loads(raw).get(name) if raw else None
        return found if isinstance(found, str) else ""

    def names(self) -> set[str]:
        """Of all files: a listing, never a poll by name."""
        return {entry.name for entry in files.entries(self.directory) if not entry.name.startswith(".")}

    def known(self) -> tuple[set[str], set[str]]:
        """The keys of all that was found; and of those of which neither a task nor a result is known."""
        names = self.names()
        found = {name.removesuffix(FOUND) for name in names if name.endswith(FOUND)}
        bare = {key for key in found if key + SUBMITTED not in names and key + RESULT not in names}
        return found | self.passed.read().keys(), bare

    def key(self, evaluator: str, fingerprint: str, path: str) -> str:
        """Two trainings may have the same content, of the first step say, and each is to have its score."""
        return self._key(evaluator, fingerprint, self._training(path))

    def keys_above(self, evaluator: str, fingerprint: str, path: str) -> Iterator[str]:
        """Those that it would have in the directories above that of its training."""
        training = self._training(path)
        while training:
            training = os.path.dirname(training)
            yield self._key(evaluator, fingerprint, training)

    def _key(self, evaluator: str, fingerprint: str, training: str) -> str:
        return key_of(f"{self.path.name}\0{evaluator}" + (f"\0{training}" if training else ""), fingerprint)

    def has_old(self, evaluator: str, fingerprint: str, path: str, keys: Collection[str]) -> bool:
        """Whether it was entered when trainings were not told apart; `keys` are all that are known."""
        old = key_of(f"{self.path.name}\0{evaluator}", fingerprint)
        found = self.finding(old) if old in keys else None
        return found is not None and self._training(found.path) == self._training(path)

    def _training(self, path: str) -> str:
        self._root = self._root or self.watched
        return training_of(path, self._root)

    def put(self, finding: Finding) -> bool:
        """True when this call was the one that put it."""
        return files.write_once(self.directory / (finding.key + FOUND), encode(finding))

    def pass_over(self, evaluator: str, findings: Sequence[Finding]) -> None:
        """What was there before; unless somebody has said so already. Who looks at the ledger's time sees it."""
        self.passed.put(evaluator, findings)
        os.utime(self.directory)

    def put_all(self, findings: Sequence[Finding]) -> set[str]:
        """The keys of those that this call has put; they wait for the disk together."""
        names = self._write_all([(finding.key + FOUND, encode(finding)) for finding in findings])
        return {name.removesuffix(FOUND) for name in names}

    def _write_all(self, named: Sequence[tuple[str, bytes]]) -> set[str]:
        """Files, each unless it is there already; the names of those that this call has put."""
        put: set[str] = set()
        for first in range(0, len(named), _TOGETHER):
            put |= self._write_some(named[first : first + _TOGETHER])
        return put

    def _write_some(self, named: Sequence[tuple[str, bytes]]) -> set[str]:
        if len(named) < 2:
            return {name for name, data in named if files.write_once(self.directory / name, data)}
        asides = [f"{self.directory}/.{name}.{secrets.token_hex(6)}.tmp" for name, _ in named]
        descriptors: list[int] = []
        put: set[str] = set()
        try:
            for aside, (_, data) in zip(asides, named, strict=True):
                descriptors.append(os.open(aside, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o644))
                files.write_all(descriptors[-1], data)
            commit.sync(descriptors)
            for aside, (name, data) in zip(asides, named, strict=True):
                try:
                    os.link(aside, self.directory / name)
                    put.add(name)
                except FileExistsError:
                    pass
                except OSError:  # no links here
                    put |= {name} if files.write_once(self.directory / name, data) else set()
        finally:
            for descriptor in descriptors:
                os.close(descriptor)
            for aside in asides:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(aside)
            files.sync_directory(self.directory)
        return put

    def mark_submitted(self, key: str) -> None:
        """A hint that saves a look at the queue: it need not survive a power cut."""
        with contextlib.suppress(OSError):
            os.close(os.open(self.directory / (key + SUBMITTED), os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o644))

    def claim(self, key: str, who: str, is_over: Callable[[str], bool]) -> bool:
        """Of several that would submit an entry of somebody who died, one may: who puts the next of the numbered
        claims, once the last claimant is seen to be dead too."""
        number = 1
        while (last := _read(self.directory / f"{key}.claim{number}")) is not None:
            if not is_over(last.decode("utf-8", "replace")):
                return False
            number += 1
        return files.write_once(self.directory / f"{key}.claim{number}", who.encode())

    def is_submitted(self, key: str) -> bool:
        return any((self.directory / (key + end)).exists() for end in (SUBMITTED, RESULT))

    def is_withdrawn(self, key: str) -> bool:
        return (self.directory / (key + WITHDRAWN)).exists()

    def was_missed(self, key: str) -> bool:
        """Whether nobody could evaluate it: it was gone, or was written over meanwhile."""
        result = self.result(key)
        return result is not None and result.state in (MISSED, VOID)

    def put_result(self, key: str, result: Result) -> None:
        """The last word counts: an evaluation may be run again by hand."""
        files.replace(self.directory / (key + RESULT), wire.encode(result))

    def begin_anew(self, finding: Finding) -> None:
        """Somebody wants it evaluated again: what it says now counts, and no result does."""
        files.replace(self.directory / (finding.key + FOUND), encode(finding))
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.directory / (finding.key + RESULT))

    def skip(self, finding: Finding, why: str) -> bool:
        """Enter what is not to be evaluated. The result comes first: a finding without one would be submitted."""
        result = wire.encode(Result(state=SKIPPED, reason=why, ended=time.time()))
        files.write_once(self.directory / (finding.key + RESULT), result)
        return self.put(finding)

    def forget_passed_over(self, evaluators: Collection[str]) -> None:
        """What was there before the first watch is wanted after all: it is found anew. The result goes first: should we
        die in between, an entry without a task gets one."""
        self.passed.forget(evaluators)
        for name in self.names():
            key = name.removesuffix(RESULT)
            result = self.result(key) if name.endswith(RESULT) else None
            if result is None or (result.state, result.reason) != (SKIPPED, BEFORE):
                continue
            finding = self.finding(key)
            if finding is not None and finding.evaluator in evaluators:
                for end in (RESULT, FOUND):
                    (self.directory / (key + end)).unlink(missing_ok=True)

    def retract(self, key: str) -> None:
        """It is to be evaluated after all; should we die now, it is found without a task, and gets one."""
        (self.directory / (key + RESULT)).unlink(missing_ok=True)

    def finding(self, key: str) -> Finding | None:
        raw = _read(self.directory / (key + FOUND))
        return self.passed.find(key) if raw is None else decode_finding(raw)

    def result(self, key: str) -> Result | None:
        raw = _read(self.directory / (key + RESULT))
        if raw is not None:
            return decode_result(raw)
        if (self.directory / (key + FOUND)).exists():  # asked first: the list of what was there before may be long
            return None
        return passed.RESULT if self.passed.find(key) is not None else None


def watch_id(directory: str) -> str:
    return blake2b(os.fsencode(real(directory)), digest_size=8).hexdigest()


def key_of(evaluator: str, fingerprint: str) -> str:
    return blake2b(f"{evaluator}\0{fingerprint}".encode("utf-8", "surrogateescape"), digest_size=12).hexdigest()


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None

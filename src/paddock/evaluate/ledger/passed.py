"""What was there before the first watch with an evaluator, and is passed over: one file for all of it, put there once.

    watches/<id>/before/<hash of the evaluator's name>    a finding a line

A directory that is watched for the first time may have thousands of checkpoints: an entry for each would hold up the
watch for minutes. An entry in the ledger goes before a line here: somebody wants that one evaluated after all.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path

from paddock import files
from paddock.evaluate.ledger.entry import BEFORE, SKIPPED, Finding, Result, decode_finding, encode

RESULT = Result(state=SKIPPED, reason=BEFORE)


class Passed:
    def __init__(self, watch: Path) -> None:
        self._directory = watch / "before"

    def put(self, evaluator: str, findings: Sequence[Finding]) -> bool:
        """True when nobody was faster. Else their list counts: what came since then is new."""
        self._directory.mkdir(exist_ok=True)
        data = b"".join(encode(finding) + b"\n" for finding in findings)
        return files.write_once(self._directory / _name(evaluator), data)

    def read(self) -> dict[str, Finding]:
        """By key, of all evaluators."""
        found: dict[str, Finding] = {}
        for entry in files.entries(self._directory):
            if not entry.name.startswith("."):
                about = os.stat(entry.path)
                found |= _read(entry.path, about.st_ino, about.st_mtime_ns)
        return found

    def find(self, key: str) -> Finding | None:
        return self.read().get(key)

    def forget(self, evaluators: Collection[str]) -> None:
        """It is wanted after all."""
        for evaluator in evaluators:
            (self._directory / _name(evaluator)).unlink(missing_ok=True)


def _name(evaluator: str) -> str:
    return blake2b(evaluator.encode("utf-8", "surrogateescape"), digest_size=12).hexdigest()


@lru_cache(maxsize=4)  # a watch of many directories keeps the lists of none in memory
def _read(path: str, inode: int, changed: int) -> Mapping[str, Finding]:
    lines = Path(path).read_bytes().splitlines()
    return {finding.key: finding for line in lines if (finding := decode_finding(line)) is not None}

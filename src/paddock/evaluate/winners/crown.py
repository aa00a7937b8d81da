"""Which checkpoints became the best by a metric: noted once each, for people and for whoever watches next."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path

from paddock import files, wire
from paddock.evaluate.ledger.book import Ledger

_CROWNED = ".crowned"


def place(ledger: Ledger, metric: str, goal: str) -> Path:
    """`goal`: as it was asked for; "" when the training run or the metric's name says it."""
    name = blake2b(f"{metric}\0{goal}".encode("utf-8", "surrogateescape"), digest_size=6)
    return ledger.path / "bests" / name.hexdigest()


def put(directory: Path, key: str, about: Mapping[str, object]) -> bool:
    """True when this call was the one that noted it."""
    path = directory / (key + _CROWNED)
    if path.exists():
        return False
    directory.mkdir(parents=True, exist_ok=True)
    return files.write_once(path, wire.dumps(dict(about)))


def goal_of(ledger: Ledger, metric: str, goal: str) -> str:
    """By which the best was chosen; "" while there is none."""
    for entry in files.entries(place(ledger, metric, goal)):
        if entry.name.endswith(_CROWNED):
            try:
                return str(wire.loads(files.read_from(entry.path, 0)).get("goal", ""))
            except (OSError, wire.DecodeError, AttributeError):
                continue
    return ""

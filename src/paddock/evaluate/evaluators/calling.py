"""What a name has called so far: an evaluator is known by its name, so another behind it is worth a word.

watches/<id>/begun.<evaluator>    that a directory was watched with it; in it, how it was called last
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec

from paddock import files, wire
from paddock.evaluate.evaluators.evaluator import Evaluator
from paddock.evaluate.ledger.book import Ledger


def begun(ledger: Ledger, name: str) -> Path:
    return ledger.path / f"begun.{name}"


def remember(ledger: Ledger, evaluator: Evaluator) -> None:
    files.replace(begun(ledger, evaluator.name), wire.dumps(evaluator.call))


def before(ledger: Ledger, evaluator: Evaluator) -> dict[str, str] | None:
    """How the evaluator of that name was called last; None when there was none, or nobody has said so."""
    try:
        return msgspec.convert(wire.loads(begun(ledger, evaluator.name).read_bytes()), dict[str, str])
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None


def begin(ledger: Ledger, evaluators: Iterable[Evaluator]) -> set[str]:
    """Note how they are called from now on; the names of those that were never here."""
    new = set()
    for one in evaluators:
        if not begun(ledger, one.name).exists():
            new.add(one.name)
        elif before(ledger, one) != one.call:
            remember(ledger, one)
    return new


def remarks(ledger: Ledger, evaluators: Iterable[Evaluator]) -> list[str]:
    """On each that bears the name of another."""
    found = []
    for one in evaluators:
        last = before(ledger, one)
        if last is not None and last != one.call:
            text = next(iter(one.call.values()))
            option = "--command" if "command" in one.call else "--evaluator"
            space = " " if "command" in one.call else ""
            found.append(
                f"The evaluator {one.name} was {next(iter(last.values()), '')!r} and is {text!r} now: what it has"
                f" evaluated is not evaluated again. If it is another, name it ({option} 'NAME:{space}...'), with"
                " --eval-existing for what is there; if not, `paddock watch rescan --checkpoint` evaluates one anew."
            )
    return found

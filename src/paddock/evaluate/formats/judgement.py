"""What one look at a candidate says about whether it is complete."""

from __future__ import annotations

from typing import NamedTuple

QUIET = 2.0  # seconds: for formats whose structure shows their end, but which are written in place
LONG_QUIET = 10.0  # for those that show nothing


class Judgement(NamedTuple):
    complete: bool  # as far as its structure tells
    why: str
    quiet: float = QUIET  # seconds that it must not have changed, unless it appeared by a rename
    said: bool = False  # its writer says so: it need not rest, whatever else was asked for


def partial(why: str) -> Judgement:
    return Judgement(False, why)


def complete(why: str, quiet: float = QUIET) -> Judgement:
    return Judgement(True, why, quiet)

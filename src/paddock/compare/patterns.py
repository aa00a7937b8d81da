"""Regular expressions that cannot run away.

Python's engine backtracks: `(a+)+$` needs longer than the universe for thirty characters. A repeat inside a repeat,
alternatives inside a repeat, and backreferences are refused; the rest is bounded by how much text it may see.
"""

from __future__ import annotations

import re
import warnings
from re import _parser as sre  # type: ignore[attr-defined]
from typing import Any, NamedTuple

MAX_PATTERN = 500  # characters
MAX_REPEATS = 3  # open-ended repeats: the work grows with this power of the text's length
_MANY = 16  # a{0,16} still counts as bounded
_STEPS = 1e9  # at the very worst, for one text


class Pattern(NamedTuple):
    """A checked pattern, and how many characters of a text it may look at."""

    regex: re.Pattern[str]
    reach: int

    def found_in(self, text: str) -> bool:
        return self.regex.search(text[: self.reach]) is not None


def check_pattern(text: str) -> Pattern:
    """The pattern, ready to search; ValueError says what was expected instead."""
    if len(text) > MAX_PATTERN:
        raise ValueError(f"a regular expression of at most {MAX_PATTERN} characters")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "[[a]" may mean something else in some later Python
            regex, tree = re.compile(text), sre.parse(text)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"a regular expression ({error})") from None
    repeats = _repeats(tree, inside=False)
    if repeats > MAX_REPEATS:
        raise ValueError(f"a regular expression with at most {MAX_REPEATS} of * and + (this one could take for ever)")
    return Pattern(regex, int(_STEPS ** (1 / (repeats + 1))))


def _repeats(tree: Any, inside: bool) -> int:
    """How many open-ended repeats there are; ValueError for a shape that backtracks without bound."""
    found = 0
    for name, argument in tree:
        kind = str(name)
        if kind in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            low, high, body = argument
            wide = int(high) > _MANY
            if inside and int(low) != int(high):
                raise ValueError("a regular expression without a repeat inside a repeat (it could take for ever)")
            found += wide + _repeats(body, inside or int(high) > 1)
        elif kind == "BRANCH":
            if inside:
                raise ValueError("a regular expression without alternatives inside a repeat (it could take for ever)")
            found += sum(_repeats(branch, inside) for branch in argument[1])
        elif kind in ("GROUPREF", "GROUPREF_EXISTS"):
            raise ValueError("a regular expression without backreferences (they could take for ever)")
        elif kind == "SUBPATTERN":
            found += _repeats(argument[-1], inside)
        elif kind in ("ASSERT", "ASSERT_NOT"):
            found += _repeats(argument[1], inside)
        elif kind == "ATOMIC_GROUP":
            found += _repeats(argument, inside)
    return found

"""Regular expressions that cannot run away.

Python's engine backtracks: `(a+)+$` needs longer than the universe for thirty characters. A repeat inside a repeat,
alternatives inside a repeat, backreferences, and too many optional parts are refused; the rest is bounded by how much
text it may see.
"""

from __future__ import annotations

import re
import warnings
from re import _parser as sre  # type: ignore[attr-defined]
from typing import Any, NamedTuple

MAX_PATTERN = 500  # characters
MAX_REPEATS = 3  # open-ended repeats: the work grows with this power of the text's length
MAX_CHOICES = 1000
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
    work = _work(tree, inside=False)
    if work.repeats > MAX_REPEATS:
        raise ValueError(f"a regular expression with at most {MAX_REPEATS} of * and + (this one could take for ever)")
    if work.choices > MAX_CHOICES:
        raise ValueError("a regular expression with fewer optional parts and alternatives (it could take for ever)")
    return Pattern(regex, int((_STEPS / work.choices) ** (1 / (work.repeats + 1))))


class _Work(NamedTuple):
    """What a failing search may try at each place of the text: choices * length ** repeats."""

    repeats: int  # open-ended ones
    choices: int  # ways through the optional parts and alternatives

    def then(self, other: _Work) -> _Work:
        return _Work(self.repeats + other.repeats, self.choices * other.choices)


_ONE = _Work(0, 1)


def _work(tree: Any, inside: bool) -> _Work:
    """ValueError for a shape that backtracks without bound."""
    found = _ONE
    for name, argument in tree:
        kind = str(name)
        if kind in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            low, high, body = argument
            found = found.then(_repeat(int(low), int(high), body, inside))
        elif kind == "BRANCH":
            if inside:
                raise ValueError("a regular expression without alternatives inside a repeat (it could take for ever)")
            branches = [_work(branch, inside) for branch in argument[1]]
            found = found.then(_Work(max(b.repeats for b in branches), sum(b.choices for b in branches)))
        elif kind in ("GROUPREF", "GROUPREF_EXISTS"):
            raise ValueError("a regular expression without backreferences (they could take for ever)")
        elif kind == "SUBPATTERN":
            found = found.then(_work(argument[-1], inside))
        elif kind in ("ASSERT", "ASSERT_NOT"):
            found = found.then(_work(argument[1], inside))
        elif kind == "ATOMIC_GROUP":
            found = found.then(_work(argument, inside))
    return found


def _repeat(least: int, most: int, body: Any, inside: bool) -> _Work:
    if inside and least != most:
        raise ValueError("a regular expression without a repeat inside a repeat (it could take for ever)")
    own = _Work(1, 1) if most - least > _MANY else _Work(0, most - least + 1)
    return own.then(_work(body, inside or most > 1))

"""The names of evaluators: given as `name:file.py:fn` or `name: command`, else read off the function or the command."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from paddock.evaluate.evaluators.evaluator import Evaluator

_GIVEN = re.compile(r"\s*([A-Za-z_][\w.-]*):(?!//)\s*(?=\S)")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")


def split(text: str) -> tuple[str, str]:
    """The name that was given, or "", and what it names. No program's name ends with a colon, and no assignment has one
    before its `=`."""
    found = _GIVEN.match(text)
    return (found[1], text[found.end() :]) if found else ("", text)


def of_command(text: str) -> str:
    """Its program: the first word that sets no variable."""
    try:
        words = shlex.split(text)
    except ValueError:  # what only a shell can read
        words = text.split()
    programs = (word for word in words if not _ASSIGNMENT.match(word) and word != "env")
    return re.sub(r"\W+", "_", next(programs, "").rpartition("/")[2]).strip("_") or "command"


def apart(found: Sequence[Evaluator], given: Sequence[bool]) -> list[Evaluator]:
    """With different names for different commands: lm_eval, lm_eval_2. What was given a name keeps it."""
    taken = [one.name for one, named in zip(found, given, strict=True) if named or "command" not in one.call]
    calls: list[dict[str, str]] = []
    apart = []
    for one, named in zip(found, given, strict=True):
        name, number = one.name, 1
        if not named and "command" in one.call and one.call not in calls:
            while name in taken:
                number += 1
                name = f"{one.name}_{number}"
            taken.append(name)
        calls.append(one.call)
        apart.append(one._replace(name=name))
    return apart

"""Slips of the pen in the header of a task's file: without a word, a task with `gpu: 1` would run without one."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from paddock.errors import Damaged

_ALIKE = 0.65  # memory and mem are, ticket and timeout are not
_SECTIONS = {"check": "check", "chk": "check", "command": "command", "cmd": "command"}


def refuse_slips(keys: Iterable[str], known: Collection[str], fence: str, file_name: str) -> None:
    """Damaged for a key that a person meant otherwise. One that resembles nothing we know is left to who wrote it."""
    from difflib import get_close_matches  # here: hardly any file has such a key

    for key in keys:
        if key in _SECTIONS:
            raise Damaged(
                f"{file_name}: the header has a line `{key}:`.",
                hint=f"It stands below a line `==== {_SECTIONS[key]} {fence}`.",
            )
        meant = [] if key in known else get_close_matches(key, known, 1, _ALIKE)
        if meant:
            raise Damaged(
                f"{file_name}: the header has no `{key}:`.",
                hint=f"Did you mean `{meant[0]}:`? A remark begins with #.",
            )

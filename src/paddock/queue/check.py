"""The shell check of a task: a text that a shell, another task and a person can use."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from paddock.queue.lifecycle import DONE
from paddock.queue.task import Dependency

_OURS = re.compile(r"ls -1 (?P<done>'[^']*'|\S+) 2>/dev/null \| grep -qxF (?P<id>[A-Za-z0-9._-]+)")


def done_check(base: Path, task_id: str) -> str:
    """By a listing: over NFS `test -f` of a name that was once missing goes on failing for half a minute."""
    return f"ls -1 {shlex.quote(str(base / DONE))} 2>/dev/null | grep -qxF {task_id}"


def split_check(text: str, base: Path) -> tuple[str, tuple[Dependency, ...]]:
    """A check that is made of our own checks needs no shell: they become dependencies, and then a failed parent
    fails its dependents instead of keeping them waiting for ever."""
    if not text.strip() or text.strip() == "true":
        return "", ()
    if re.search(r"\|\||[;&]\s*$|[()\n`]", text):
        return text, ()
    kept, found = [], []
    for part in text.split("&&"):
        match = _OURS.fullmatch(part.strip())
        if match and shlex.split(match["done"])[0] == str(base / DONE):
            found.append(Dependency(match["id"]))
        else:
            kept.append(part.strip())
    return " && ".join(kept), tuple(found)

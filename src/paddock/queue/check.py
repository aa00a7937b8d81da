"""The shell check of a task: a text that a shell, another task and a person can use."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from paddock.queue.lifecycle import DONE
from paddock.queue.task import Dependency

_OURS = re.compile(r"""ls -1 (?P<done>(?:'[^']*'|"[^"]*"|[^\s'"])+) 2>/dev/null \| grep -qxF (?P<id>[A-Za-z0-9._-]+)""")

_WAITS = re.compile(r"paddock wait --timeout 0 -Q '(?P<queue>[^']*)' (?P<id>[A-Za-z0-9._-]+)")


def done_check(base: Path, task_id: str) -> str:
    """By a listing: over NFS `test -f` of a name that was once missing goes on failing for half a minute."""
    return f"ls -1 {shlex.quote(str(base / DONE))} 2>/dev/null | grep -qxF {task_id}"


def wait_check(queue: str, task_id: str) -> str:
    """The same of a queue that is no directory, by our own program."""
    return f"paddock wait --timeout 0 -Q '{queue}' {task_id}"


def split_check(text: str, base: Path | str) -> tuple[str, tuple[Dependency, ...]]:
    """A check that is made of our own checks needs no shell: they become dependencies, and then a failed parent
    fails its dependents instead of keeping them waiting for ever."""
    if not text.strip() or text.strip() == "true":
        return "", ()
    parts = _conjuncts(text)
    if parts is None:
        return text, ()
    kept, found = [], []
    for part in parts:
        task = _named(part.strip(), base)
        if task:
            found.append(Dependency(task))
        else:
            kept.append(part.strip())
    return (" && ".join(kept), tuple(found)) if found else (text, ())


def _named(part: str, base: Path | str) -> str:
    """The task of the queue with this base (or URL) that a check of ours waits for; "" when it is none."""
    if isinstance(base, str):
        match = _WAITS.fullmatch(part)
        return match["id"] if match and match["queue"] == base else ""
    match = _OURS.fullmatch(part)
    return match["id"] if match and shlex.split(match["done"])[0] == str(base / DONE) else ""


def _conjuncts(text: str) -> tuple[str, ...] | None:
    """What stands between the `&&` of a plain list of commands; None when it is more than that, and taking a part
    out of it could change what it means."""
    text = text.strip()
    if re.search(r"[`\n\\]|<<|\$\(", text):
        return None
    parts, last = [], 0
    for match in re.finditer(r"'[^']*'|\"[^\"]*\"|&&|\|\||2?>&\d|[;&()'\"{}#!]", text):
        token = match[0]
        if token == "&&":
            parts.append(text[last : match.start()])
            last = match.end()
        elif len(token) == 1 or token == "||":
            return None
    return (*parts, text[last:])

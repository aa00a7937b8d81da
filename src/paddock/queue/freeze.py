"""The code of a task, frozen at submit: later edits do not change what is queued."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import msgspec

from paddock import settings
from paddock.queue.task import Task
from paddock.record.layout import Home
from paddock.record.worktree.pace import Pace
from paddock.record.worktree.snapshot import snapshot

_SECONDS = 60.0
_FRESH = 1.0  # tasks submitted within a second of each other share a snapshot: a loop over 1,000 of them takes one
_last: dict[str, tuple[float, dict[str, Any]]] = {}


def frozen(task: Task, home: Home) -> Task:
    """The task with the digest of its working tree; it runs from that, wherever the tree has gone meanwhile. Where
    there is no code to freeze (a home directory, an empty one) it runs in place, and its facts say why."""
    code = _snapshot(task.cwd, home)
    return msgspec.structs.replace(task, code=code.get("snapshot") or "", facts={**task.facts, "code": code})


def _snapshot(cwd: str, home: Home) -> dict[str, Any]:
    key, now = f"{home.path}:{cwd}", time.monotonic()
    known = _last.get(key)
    if known is not None and now - known[0] < _FRESH:
        return known[1]
    code = snapshot(home, None, Path(cwd), settings.load(), Pace(now + _SECONDS))
    _last[key] = time.monotonic(), code
    return code

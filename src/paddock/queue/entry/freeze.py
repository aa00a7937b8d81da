"""The code of a task, frozen at submit: later edits do not change what is queued."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path
from typing import Any

import msgspec

from paddock import settings
from paddock.errors import HomeError
from paddock.queue.task import Task
from paddock.record.layout import Home

_SECONDS = 60.0


class Freezer:
    """For tasks that are submitted in one call: they share a look at their working tree. Not longer: who submits, edits
    a config and submits again means two different trees, however fast it goes."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._facts: dict[str, dict[str, Any]] = {}  # by directory: what is to be added to the facts of a task

    def freeze(self, task: Task) -> Task:
        """The task with the digest of its working tree; it runs from that, wherever the tree has gone meanwhile. Where
        there is no code to freeze (a home directory, an empty one) it runs in place, and its facts say why."""
        facts = self._facts.get(task.cwd)
        if facts is None:
            facts = self._facts[task.cwd] = {"code": self._snapshot(Path(task.cwd))}
        digest = facts["code"].get("snapshot") or ""
        return msgspec.structs.replace(task, code=digest, facts={**task.facts, **facts} if task.facts else facts)

    def _snapshot(self, directory: Path) -> dict[str, Any]:
        from paddock.record.worktree.pace import Pace
        from paddock.record.worktree.snapshot import snapshot

        pace = Pace(time.monotonic() + _SECONDS)
        try:
            return snapshot(self._home, None, directory, settings.load(), pace, durable=True)
        except OSError as error:
            raise HomeError(
                f"The code in {directory} cannot be kept ({error.strerror or error}): nothing was submitted.",
                hint="See to the disk, or submit without a snapshot.",
            ) from None


def led_outside(task: Task) -> list[str]:
    """Paths in the command of a frozen task that exist, and lead out of what was frozen by `..`: it runs elsewhere."""
    root = str(task.facts.get("code", {}).get("root") or task.cwd)
    found = []
    for word in re.split(r"""[\s'"`;&|<>()=]+""", task.command) if task.code and ".." in task.command else ():
        path = os.path.normpath(os.path.join(task.cwd, word))
        if ".." in word.split("/") and not word.startswith("/") and not f"{path}/".startswith(f"{root}/"):
            found += [word] if os.path.exists(path) else []
    return found

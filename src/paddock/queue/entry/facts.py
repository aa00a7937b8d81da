"""run.json of a run that began as a task."""

from __future__ import annotations

import os
import time
from typing import Any

from paddock.queue.task import Task

_LEFT = ("name", "project", "group", "job_type", "notes")  # what the script may say that the submission did not


def facts_of(task: Task) -> dict[str, Any]:
    return own_facts(task) | task.facts


def own_facts(task: Task) -> dict[str, Any]:
    """Without what was captured at submit."""
    user, _, host = task.user.partition("@")
    return {
        "v": 1,
        "id": task.id,
        "name": task.name or task.title or task.id,
        "project": task.project or os.path.basename(task.cwd) or "default",
        "group": task.group or None,
        "job_type": None,
        "tags": list(task.tags),
        "notes": task.notes,
        "created": task.submitted or round(time.time(), 6),
        "user": user,
        "config": task.config,
        "command": ["/bin/sh", "-c", task.command],
        "cwd": task.cwd,
        "parent": task.parent or None,
        "open": [what for what in _LEFT if what == "job_type" or not getattr(task, what)],
        "host": {"name": host},
    }

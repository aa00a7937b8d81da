"""A task as a job of RQ, and back. The job's argument is the task's file; what is noted of attempts is in a field of
ours, `paddock`, because RQ writes its own fields anew whenever a job of it ends."""

from __future__ import annotations

import base64
import json
import math
import re
import zlib
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from paddock.errors import Damaged, UsageError
from paddock.queue.task import Task, render

FUNCTION = "paddock.bridge.rq.run_task"
FIELD = "paddock"
GRACE_SECONDS = 120  # beyond the task's own limit, which is what ends it
_ID = re.compile(r"[A-Za-z0-9_-]+")


def about(task: Task, attempts: int = 0) -> str:
    """What a worker is chosen by, in a few words."""
    numbers = (task.priority, task.gpus, task.cpus, task.mem, int(bool(task.check)), attempts)
    return " ".join(map(str, numbers))


def fields(task: Task, queue: str) -> dict[str, Any]:
    """The hash of the job."""
    if not _ID.fullmatch(task.id):
        raise UsageError(f"{task.id!r} cannot be a job's id.", hint="RQ takes letters, digits, '_' and '-'.")
    if task.workers > 1:
        raise UsageError(
            "A task of several ranks cannot be in Redis: its workers do not see each other.",
            hint="Use a queue in a directory.",
        )
    text = render(task).decode("utf-8", "surrogateescape")
    data = json.dumps([FUNCTION, None, [text], {}]).encode()
    now = moment()
    return {
        "created_at": now,
        "enqueued_at": now,
        "origin": queue,
        "description": (task.name or task.command.strip().partition("\n")[0])[:200].encode("utf-8", "replace"),
        "data": zlib.compress(data),
        "timeout": str(limit(task)),
        "result_ttl": "-1",
        "failure_ttl": "-1",
        "status": "created",
        "meta": json.dumps({"paddock": 1, "project": task.project, "name": task.name}),
    }


def limit(task: Task) -> int:
    """RQ's own limit, which is to end nothing that ours does not."""
    if not task.timeout:
        return -1
    return math.ceil((task.timeout + GRACE_SECONDS) * (task.retries + 1))


def text(found: Mapping[str, bytes | None] | tuple[bytes | None, bytes | None], task: str) -> bytes:
    """The task's file, from the fields `paddock` and `data` of its job."""
    noted, data = (found.get(FIELD), found.get("data")) if isinstance(found, Mapping) else found
    if noted:
        return noted
    try:
        raw = zlib.decompress(data or b"")
    except zlib.error:
        raw = data or b""
    try:
        name, _, arguments, _ = json.loads(raw.decode())
        if name == FUNCTION and isinstance(arguments[0], str):
            return str(arguments[0]).encode("utf-8", "surrogateescape")
    except (ValueError, TypeError, IndexError, LookupError, UnicodeDecodeError):
        pass
    raise Damaged(f"The job {task} is no task of Paddock.", hint="It is left alone.")


def moment() -> str:
    """Now, as RQ writes it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def parse_moment(text: str) -> float | None:
    try:
        return datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=UTC).timestamp()
    except ValueError:
        return None


def result(good: bool, why: str) -> tuple[str, bytes]:
    """The field of RQ's result that says how it ended."""
    if good:
        return "return_value", base64.b64encode(json.dumps("done").encode())
    return "exc_string", base64.b64encode(zlib.compress(why.encode("utf-8", "replace")))

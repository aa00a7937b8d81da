"""Whether this very attempt was begun before, by somebody who may still run it.

A person may take the token off a running task's file (`mv active/X~worker.1 queued/X`), or put back one that was
removed. Its worker misses the file after a moment and ends the task; until then nobody else may begin it, and nothing
in the queue says so. The run does: it has the output of an attempt of that number, and a journal without an end.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

from paddock import files, wire
from paddock.record.journal import HEADER_BYTES

_LAST_BYTES = 1024


def holders(root: str, number: int) -> Iterator[str]:
    """The workers that have begun this attempt of the run in `root` and have not written how it ended."""
    try:
        names = os.listdir(f"{root}/journal")
    except OSError:
        return
    for path in (f"{root}/journal/{name}" for name in names if name.endswith(".jsonl")):
        first = _record(path, 0, lambda data: data.partition(b"\n")[0])
        if first.get("role") != "supervisor" or first.get("attempt") != number:
            continue
        last = _record(path, -_LAST_BYTES, lambda data: data.rstrip(b"\n").rpartition(b"\n")[2])
        if last.get("k") != "end":
            yield str(first.get("worker"))


def _record(path: str, offset: int, line: Callable[[bytes], bytes]) -> dict[str, object]:
    try:
        start = offset if offset >= 0 else max(os.stat(path).st_size + offset, 0)
        found = wire.loads(line(files.read_from(path, start, HEADER_BYTES)))
    except (OSError, wire.DecodeError):
        return {}
    return found if isinstance(found, dict) else {}

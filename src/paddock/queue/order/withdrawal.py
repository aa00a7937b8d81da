"""Taking a waiting task back before a worker takes it: one rename, which either of the two wins.

Unlike a cancellation it never touches what runs. The file stays aside until whoever withdrew it has noted why, so that
a death in between is seen.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator

from paddock import files
from paddock.queue.directory import ASIDE, DirectoryQueue
from paddock.queue.lifecycle import QUEUED, Place
from paddock.queue.protocol import Queue

_SUFFIX = ".withdrawn"


def withdraw(queue: Queue, place: Place) -> bool:
    """False when it does not wait any more: a worker has it, or somebody else took it back."""
    if place.state != QUEUED or place.token is not None:
        return False
    if not isinstance(queue, DirectoryQueue):
        return queue.remove(place)
    aside = queue.path / ASIDE
    name = f"{place.id}.{secrets.token_hex(4)}{_SUFFIX}"
    try:
        os.rename(queue.file(place), aside / name)
    except FileNotFoundError:
        # Over NFS a rename that says so may have happened. The name is ours alone.
        return any(entry.name == name for entry in files.entries(aside))
    files.sync_directory(queue.directory(QUEUED))
    return True


def withdrawn(queue: Queue) -> Iterator[str]:
    """The ids of tasks that were taken back and are not yet forgotten."""
    if not isinstance(queue, DirectoryQueue):
        return
    for entry in files.entries(queue.path / ASIDE):
        if entry.name.endswith(_SUFFIX):
            yield entry.name.removesuffix(_SUFFIX).rpartition(".")[0]


def forget(queue: Queue, task_id: str) -> None:
    """It has been noted why."""
    if not isinstance(queue, DirectoryQueue):
        return
    for entry in list(files.entries(queue.path / ASIDE)):
        if entry.name.endswith(_SUFFIX) and entry.name.removesuffix(_SUFFIX).rpartition(".")[0] == task_id:
            (queue.path / ASIDE / entry.name).unlink(missing_ok=True)

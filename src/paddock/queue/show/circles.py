"""Which waiting tasks wait for each other in a circle, as their files say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from paddock.queue.circle import circle, told
from paddock.queue.directory import DirectoryQueue
from paddock.queue.lifecycle import DONE, FAILED, QUEUED, Place, settle
from paddock.queue.protocol import Queue
from paddock.queue.show.view import Entry


class Circles:
    """Each file is read once, and only of tasks that somebody waits for."""

    def __init__(self, entries: Iterable[Entry], known: Mapping[str, Place]) -> None:
        self._entries = {entry.id: entry for entry in entries}
        self._known = known
        self._waits: dict[str, list[str]] = {}

    def why(self, entry: Entry) -> str:
        """Nothing when it is in none. In Redis no file can be edited, and each look is a question to a server."""
        if not isinstance(entry.queue, DirectoryQueue) or entry.state != QUEUED:
            return ""
        between = circle(entry.id, lambda task: self._waiting_for(entry.queue, task))
        return told(self._entry(entry.queue, task).title or task for task in between) if between else ""

    def _entry(self, queue: Queue, task: str) -> Entry:
        return self._entries.setdefault(task, Entry(queue, self._known[task]))

    def _waiting_for(self, queue: Queue, task: str) -> list[str]:
        """What it still waits for and has not been begun."""
        if task not in self._waits:
            file = self._entry(queue, task).file if self._known[task].token is None else None
            after = file.task.after if file is not None else ()
            states = {d.task: self._known[d.task].state for d in after if d.task in self._known}
            doomed = bool(after) and settle(after, states).doomed
            self._waits[task] = [t for t, state in states.items() if state not in (DONE, FAILED)] if not doomed else []
        return self._waits[task]

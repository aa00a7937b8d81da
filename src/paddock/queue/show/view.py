"""A queue as it is at this moment: its tasks one by one, each with its place, and its file when it is asked for."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from paddock import settings
from paddock.errors import Damaged
from paddock.queue.finding import find_queue
from paddock.queue.lifecycle import ACTIVE, CHECKING, DONE, FAILED, PAUSED, QUEUED, Place
from paddock.queue.protocol import Queue
from paddock.queue.task import TaskFile, first_line
from paddock.record.layout import Home, find_home

# In the order a task goes through them: one that moves on between two listings is seen at least once, and where it is
# now rather than where it was.
IN_ORDER = (QUEUED, PAUSED, CHECKING, ACTIVE, FAILED, DONE)


@dataclass(frozen=True)
class Entry:
    """A task in a queue, where the last listing saw it."""

    queue: Queue
    place: Place

    @property
    def id(self) -> str:
        return self.place.id

    @property
    def state(self) -> str:
        return self.place.state

    @property
    def priority(self) -> int:
        return self.place.priority

    @property
    def worker(self) -> str:
        """Whose it is; "" when it is nobody's."""
        return self.place.token.worker if self.place.token else ""

    @cached_property
    def _content(self) -> tuple[TaskFile | None, str]:
        try:
            refused = self.queue.distrust(self.place)
            return (None, refused) if refused else (self.queue.read(self.place), "")
        except Damaged as error:
            return None, str(error)
        except FileNotFoundError:
            return None, ""  # it has moved on since the listing
        except OSError as error:
            return None, f"its file cannot be read ({error.strerror or error})"

    @property
    def file(self) -> TaskFile | None:
        """The task and its history; None when the file is none, or is gone."""
        return self._content[0]

    @property
    def trouble(self) -> str:
        """Why there is no task in the file, as a sentence."""
        return self._content[1]

    @cached_property
    def name(self) -> str:
        """Without the rest of the file: somebody may look for one name among a hundred thousand."""
        if "_content" in self.__dict__:
            return self.file.task.name if self.file else ""
        try:
            return self.queue.title(self.place)
        except (OSError, Damaged):
            return ""

    @property
    def command(self) -> str:
        return self.file.task.command if self.file else ""

    @property
    def title(self) -> str:
        """What a person knows it by: its name, else the first line of its command."""
        return self.name or first_line(self.command)

    @property
    def attempt(self) -> int:
        """The number of the attempt that runs, or of the last one."""
        if self.place.token and self.state in (ACTIVE, PAUSED, CHECKING):
            return self.place.token.epoch
        return len(self.file.attempts) if self.file else 0


class Snapshot(NamedTuple):
    entries: list[Entry]
    strangers: list[str]  # paths of files that are no tasks
    sure: bool

    def by_id(self) -> dict[str, Entry]:
        return {entry.id: entry for entry in self.entries}


def snapshot(queue: Queue, states: Iterable[str] = IN_ORDER) -> Snapshot:
    listing = queue.list(states)
    last = {place.id: place for place in listing.places}
    return Snapshot([Entry(queue, place) for place in last.values()], listing.strangers, listing.sure)


def tasks(queue: str | os.PathLike[str] | None = None, *, home: Any = None) -> list[Entry]:
    """Every task of a queue, by id, each where it is at this moment; the usual queue when none is named."""
    given = settings.load()
    place = home if isinstance(home, Home) else find_home(home or given.home)
    found = find_queue(queue or given.queue, place)
    found.require()
    return sorted(snapshot(found).entries, key=lambda entry: entry.id)

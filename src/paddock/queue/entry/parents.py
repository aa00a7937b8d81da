"""What tasks wait for, looked up when they are submitted: a slip in a name must not become a task that never runs."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

from paddock.errors import NotFound, UsageError
from paddock.queue.finding import find_queue, known_queues
from paddock.queue.protocol import AWAY, Queue
from paddock.queue.task import AFTER, Dependency
from paddock.record.layout import Home

if TYPE_CHECKING:
    from paddock.queue.show.view import Entry

_FORMS = "Give a task, its id or name, or failure:ID, any:ID."


@runtime_checkable
class Handle(Protocol):
    """A task that was submitted before."""

    @property
    def id(self) -> str: ...
    @property
    def where(self) -> str: ...


class Waits(NamedTuple):
    """`after` for what is in the same queue; a shell check for what is in another, whose states no worker here sees."""

    after: tuple[Dependency, ...]
    checks: tuple[str, ...]


class Parents:
    """One look at the queues for all tasks that are submitted together."""

    def __init__(self, queue: Queue, home: Home) -> None:
        self._queue, self._home = queue, home

    def find(self, given: Any) -> Waits:
        if given == ():  # as most
            return Waits((), ())
        after: list[Dependency] = []
        checks: list[str] = []
        items = [given] if isinstance(given, (str, Dependency, Handle)) else given or ()
        if not isinstance(items, Iterable) or isinstance(items, Mapping):
            raise UsageError(f"after={given!r} is no list of tasks.", hint=_FORMS)
        for item in items:
            when, task, queue = self._one(item)
            if _same(queue, self._queue):
                after.append(Dependency(task, when))
            elif when == "success":
                checks.append(queue.check(task))
            else:
                raise UsageError(
                    f"{task} is in another queue ({queue.address}), where its {when} cannot be waited for.",
                    hint="Submit both to the same queue.",
                )
        return Waits(tuple(dict.fromkeys(after)), tuple(dict.fromkeys(checks)))

    def _one(self, item: Any) -> tuple[str, str, Queue]:
        """When, the id, and its queue."""
        if isinstance(item, Handle):
            return "success", item.id, find_queue(item.where, self._home)
        text = str(item) if item is not None else ""
        when, colon, word = text.partition(":")
        if not colon or when not in AFTER:  # a name may have a colon in it
            when, word = "success", text
        if not word.strip() or not word.isprintable():
            raise UsageError(f"after={item!r} is no dependency.", hint=_FORMS)
        entry = self._entry(word)
        return when, entry.id, entry.queue

    def _entry(self, word: str) -> Entry:
        from paddock.queue.order.selection import named  # here, as below: most tasks wait for nothing

        for entries in (self._here, self._elsewhere):
            try:
                return named(entries, [word])[0]
            except NotFound:
                continue
        raise NotFound(
            f"There is no task {word!r} to wait for in {self._queue.address}.",
            hint="`paddock status` shows what there is.",
        )

    @cached_property
    def _here(self) -> list[Entry]:
        from paddock.queue.show.view import snapshot

        return snapshot(self._queue).entries

    @cached_property
    def _elsewhere(self) -> list[Entry]:
        from paddock.queue.show.view import snapshot

        found: list[Entry] = []
        for queue in known_queues(self._home):
            if not _same(queue, self._queue):
                with contextlib.suppress(*AWAY):  # what it has cannot be waited for now
                    found += snapshot(queue).entries
        return found


def _same(one: Queue, other: Queue) -> bool:
    return one.address == other.address or os.path.realpath(one.address) == os.path.realpath(other.address)

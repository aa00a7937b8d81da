"""What every queue can do, wherever it is: a directory, or a Redis. The verbs know no more of it than this."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from paddock.errors import MissingExtra, Refused, Unreachable
from paddock.queue.abilities import Abilities
from paddock.queue.directory import Listing
from paddock.queue.lease import Identity
from paddock.queue.lifecycle import STATES, Place
from paddock.queue.task import Task, TaskFile

AWAY = (Unreachable, Refused, MissingExtra)  # what is raised by a queue that cannot be asked now


class Holder(Protocol):
    """Holds tasks: the six that the others are made of."""

    def prepare(self) -> None:
        """Make what is missing; a sentence when it cannot be used."""

    def list(self, states: Iterable[str] = STATES) -> Listing:
        """Where each task is now."""

    def read(self, place: Place) -> TaskFile:
        """FileNotFoundError when it is there no more, Damaged when it is no task."""

    def put(self, tasks: Sequence[Task]) -> None:
        """Acknowledged when this returns."""

    def move(self, place: Place, to: Place) -> bool:
        """As if its file were renamed; False when it is not at that place any more."""

    def remove(self, place: Place) -> bool:
        """The same for its removal."""


class Queue(Holder, Protocol):
    """And what is shown of it to people."""

    @property
    def name(self) -> str: ...

    @property
    def address(self) -> str:
        """As -Q takes it, from anywhere."""

    def exists(self) -> bool: ...

    def require(self) -> None: ...

    @property
    def abilities(self) -> Abilities:
        """What it can do, of what not every queue can."""

    def raw(self, place: Place) -> bytes:
        """The task's file as it is."""

    def place_copy(self, data: bytes, at: Place) -> None:
        """A task's file from another queue: over, or held under a token."""

    def title(self, place: Place) -> str:
        """The task's name, without the rest of its file where that is cheaper."""

    def distrust(self, place: Place) -> str:
        """Why no worker runs it, as a sentence; "" when that is none."""

    def since(self, place: Place) -> float | None:
        """When it came to its place."""

    def now(self) -> float:
        """By the clock that `since` is by."""

    def reasons(self) -> Mapping[str, str]:
        """Why workers have given tasks back that wait again, by id."""

    def check(self, task: str) -> str:
        """A shell command that succeeds once the task is done."""

    def sync(self, states: Iterable[str]) -> None:
        """What was moved to or from these is there after a power cut."""

    def tend(self) -> None:
        """Let go on what waited for something that has happened, where no worker sees to it."""

    def crew(self) -> Sequence[tuple[Identity, float, bool]]:
        """Each worker, the seconds since its last sign of life, and whether that is too long."""

    def dismiss(self, worker: str) -> None:
        """Have a worker give its tasks back, and end."""

    def forget(self, worker: str) -> None:
        """A dead one, that has nothing any more."""

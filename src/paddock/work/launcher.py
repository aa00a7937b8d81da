"""What an engine has to be able to do: start jobs that run workers, say how they are, end them."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from paddock.queue.directory import DirectoryQueue
from paddock.queue.task import Task


class JobState(enum.Enum):
    PENDING = "pending"
    RUNNING = "running"
    ENDED = "ended"
    UNKNOWN = "unknown"  # the engine did not say; it may be running

    @property
    def may_run(self) -> bool:
        return self is not JobState.ENDED


class Job(NamedTuple):
    """A job of the engine, as it says itself."""

    task: str
    id: str  # the engine's
    state: JobState
    about: str = ""  # the engine's word for the state, and why: "PENDING (Resources)"
    node: str = ""
    # Of a job that the task itself was handed to:
    claim: str = ""  # the token that the task's file has here
    exit: int | None = None  # its exit code; None when the engine does not know
    said: str = ""  # what it left behind for us
    try_: str = ""  # which of its tries this is, where the engine begins anew by itself: the name of a pod


class Parcel(NamedTuple):
    """A task that is handed over: which, under whose claim, and its file."""

    task: Task
    claim: str
    data: bytes


class Launched(NamedTuple):
    """What became of an attempt to start a job for a task."""

    task: str
    job: str = ""
    trouble: str = ""  # a sentence: what failed, and what to do. The task waits on
    later: bool = False  # nobody has to do anything: it may start at a later look


class Capabilities(NamedTuple):
    """What an engine can do. Where it cannot, Paddock says so; it never pretends."""

    pause: bool  # a running task stops, and goes on where it was
    output_while_it_runs: bool
    dependencies: bool  # a task that waits for another takes no room meanwhile
    preemption: bool  # it takes jobs away, and starts them again
    shared_disk: bool  # its jobs see the home's directory
    ranks: bool = False  # a task may have several ranks


class Launcher(Protocol):
    """Whose jobs see the home (`capabilities.shared_disk`); one whose jobs do not is a Carrier besides."""

    @property
    def capabilities(self) -> Capabilities: ...

    def launch(self, queue: DirectoryQueue, tasks: Sequence[Task]) -> list[Launched]:
        """A job for each. Tasks that are alike may share a call. Unreachable when the engine is not there at all."""

    def look(self, queue: DirectoryQueue) -> Mapping[str, Sequence[Job]]:
        """Every job of this queue that the engine knows, by task, in one call. Unreachable when it does not answer."""

    def end(self, queue: DirectoryQueue, jobs: Sequence[Job]) -> None:
        """Whatever state they are in; one that is over already is no trouble."""


@runtime_checkable
class Carrier(Protocol):
    """A launcher that can hand tasks over, to jobs that see no disk of ours."""

    def carry(self, queue: DirectoryQueue, parcels: Sequence[Parcel]) -> list[Launched]:
        """A job for each, which says in Job.claim and Job.exit what became of it."""


@runtime_checkable
class Herald(Protocol):
    """A launcher whose engine tells by itself that something has changed."""

    def listen(self, queue: DirectoryQueue) -> Callable[[], bool]:
        """From now on. The answer says whether anything has happened to the queue's jobs since it was last asked, and
        asks nobody; where the engine is away it says no."""


class Pilot(NamedTuple):
    """A worker that the engine starts, or has started."""

    id: str  # the engine's
    state: JobState
    about: str = ""  # the engine's words: "PENDING (Resources)"; of one that failed also what it printed last, if known
    failed: bool = False  # it has ended, and not as a worker does


class Fleet(Protocol):
    """The pilots of one queue on one engine."""

    def look(self) -> Sequence[Pilot]:
        """All of them, in one call, the oldest first. Unreachable when the engine does not answer."""

    def start(self, count: int, *, lasting: bool) -> None:
        """More of them; those that are not lasting leave when there is nothing to do."""

    def end(self, pilots: Sequence[Pilot]) -> None:
        """Each gives its tasks back first."""

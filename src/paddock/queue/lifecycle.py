"""Where a task's file is, what that means, and what is to be done about it. Pure: names in, decisions out.

    queued/<id>                 waits            queued/<id>@5          waits with priority 5
    active/<id>~<token>         runs, for the worker and the claim that the token names
    checking/<id>~<token>       its check runs there
    paused/<id>                 held             paused/<id>~<token>    stopped in the middle, by SIGSTOP
    done/<id>, failed/<id>      over             .cancelled/<id>~<token>  its worker ends it, then removes the file

A token is in a file's name because a rename is the only thing that exactly one of many can win: whoever finds its own
token in a listing knows what it owns, whatever the rename said. A person may `mv` a file with its token anywhere; the
worker that the token names sees it there, acts, and takes the token off. Until it has, nobody else takes the task: so
it never runs twice at once.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterable, Mapping
from operator import attrgetter
from typing import NamedTuple

from paddock.queue.task import Attempt, Dependency, TaskFile

QUEUED, CHECKING, ACTIVE, DONE, FAILED, PAUSED = "queued", "checking", "active", "done", "failed", "paused"
STATES = (QUEUED, CHECKING, ACTIVE, DONE, FAILED, PAUSED)
OWNED = (CHECKING, ACTIVE)  # a file here belongs to a worker
CANCELLED = ".cancelled"  # no state: a running task's file lies here until its worker has ended the processes
# In which a file that may be moved meanwhile is looked for: in the order of the moves, and the likeliest last.
LOOK = (QUEUED, FAILED, DONE, CHECKING, PAUSED, ACTIVE, CANCELLED)
HANDED = "k8s-"  # so does that of a job that a task was handed to, with eight digits behind it
MOVER = "move-"  # so begins the name of who carries tasks between queues
MOST_PRIORITY = 999_999_999  # the digits that a name may have
POISON = 5  # a task that was lost with its worker so often in a row is not given to another one

_NAME = re.compile(
    r"(?P<id>[A-Za-z0-9][A-Za-z0-9._-]*)(?:@(?P<priority>-?\d{1,9}))?(?:~(?P<worker>[A-Za-z0-9-]+)\.(?P<epoch>\d+))?"
)


class Token(NamedTuple):
    """One claim: which worker, and the how-manieth time that anybody claimed the task."""

    worker: str
    epoch: int

    def __str__(self) -> str:
        return f"{self.worker}.{self.epoch}"


class Place(NamedTuple):
    """A task's file: the directory it is in, and what its name says."""

    state: str
    id: str
    priority: int = 0
    token: Token | None = None

    @property
    def name(self) -> str:
        priority = f"@{self.priority}" if self.priority else ""
        return f"{self.id}{priority}" + (f"~{self.token}" if self.token else "")

    @property
    def path(self) -> str:
        return f"{self.state}/{self.name}"


def place(state: str, name: str) -> Place | None:
    """What a file's name says; None when it is no task's (a note, an editor's backup, a file being written)."""
    match = _NAME.fullmatch(name)
    if match is None or name.endswith(("~", ".tmp", ".swp")):
        return None
    if match.lastindex == 1:  # nothing but the id, as with most of a hundred thousand
        return Place(state, name)
    token = Token(match["worker"], int(match["epoch"])) if match["worker"] else None
    return Place(state, match["id"], int(match["priority"] or 0), token)


def claimed(at: Place, token: Token, state: str = ACTIVE) -> Place:
    return at._replace(state=state, token=token)


def ended(at: Place, state: str) -> Place:
    """Where a file goes when its claim is over; what is over needs no priority."""
    return Place(state, at.id, at.priority if state in (QUEUED, PAUSED) else 0, None)


def order(places: Iterable[Place]) -> list[Place]:
    """In which order waiting tasks are taken: higher priority first, then the older (ids begin with the time)."""
    found = sorted(places, key=_BY_ID)
    if any(map(_BY_PRIORITY, found)):
        found.sort(key=_BY_PRIORITY, reverse=True)  # which keeps the order of equal ones
    return found


_BY_ID, _BY_PRIORITY = attrgetter("id"), attrgetter("priority")


def is_mover(worker: str) -> bool:
    """Whether a token's owner is no worker, but a person who moves tasks to another queue."""
    return worker.startswith(MOVER)


def is_job(worker: str) -> bool:
    """Whether a token's owner is no worker, but a job of an engine that the task was handed to (work/launch/remote.py).
    It has no file among the workers, and whoever asks the engine says what has become of it."""
    return worker.startswith(HANDED) and worker.count("-") == 1  # a worker's name has two, also on a host called k8s


def is_free(at: Place) -> bool:
    """May be claimed: a queued file without a token. With one, its last owner has still to let go of it."""
    return at.state == QUEUED and at.token is None


class Order(enum.Enum):
    """What a worker does with a task that it runs, after a look at the directories."""

    KEEP = "keep"
    STOP = "stop"  # SIGSTOP
    CONTINUE = "continue"  # SIGCONT
    KILL = "kill"  # and take the token off the file where it is now
    DROP = "drop"  # kill; the file is gone, or somebody else's


def judge(mine: Token, found: Iterable[Place], *, stopped: bool, sure: bool, misses: int) -> Order:
    """`found` are the places of the task in a fresh listing; `sure` says that all of it could be read, and that the
    queue is really there. One listing without the file is not believed, and neither is a broken one: a disk that
    went away must not look like a person who deleted everything."""
    here = [p for p in found if p.token == mine]
    if here:
        state = here[0].state
        if state == ACTIVE:
            return Order.CONTINUE if stopped else Order.KEEP
        if state == PAUSED:
            return Order.KEEP if stopped else Order.STOP
        return Order.DROP if state == CANCELLED else Order.KILL
    return Order.DROP if sure and misses >= 1 else Order.KEEP


def destination(state: str, outcome: str, failures: int, retries: int) -> str:
    """Where a file goes after an attempt; `failures` are those of earlier attempts. Where a person has put it is where
    it belongs, except that nothing stays with a worker that is through with it."""
    if state not in (*OWNED, PAUSED):
        return state
    if outcome == "done":
        return DONE
    if outcome in ("failed", "timed out"):
        return QUEUED if failures < retries else FAILED
    return PAUSED if state == PAUSED else QUEUED


def after_loss(state: str, losses: int) -> str:
    """The same for a task that was lost with its worker, now for the how-manieth time in a row."""
    if state not in OWNED:
        return state
    return FAILED if losses >= POISON else QUEUED


def after_attempt(state: str, file: TaskFile) -> str:
    """The same by the last note in its file."""
    *earlier, last = file.attempts
    if last.outcome == "lost":
        return after_loss(state, file.losses)
    failures = sum(attempt.outcome in ("failed", "timed out") for attempt in earlier)
    return destination(state, last.outcome, failures, file.task.retries)


class Inherited(NamedTuple):
    """What becomes of a task whose worker is no more."""

    state: str
    note: Attempt | None = None  # to be written into its file first


def inherited(state: str, file: TaskFile, lost: Token) -> Inherited:
    """Of a task that somebody had who died. An attempt that had noted how it ended is not run again; any other is
    noted as lost."""
    last = file.attempts[-1] if file.attempts else None
    if last is not None and last.number == lost.epoch and last.outcome != "started":
        return Inherited(after_attempt(state, file))
    if state == CHECKING:
        return Inherited(QUEUED)
    outcome = "lost" if state in (ACTIVE, PAUSED) else "killed"
    note = Attempt(number=lost.epoch, worker=lost.worker, outcome=outcome, exit="its worker died")
    return Inherited(after_loss(state, file.losses + 1), note)


class Verdict(NamedTuple):
    """Whether what a task waits for has happened."""

    ready: bool
    doomed: str = ""  # why it never will


def settle(after: Iterable[Dependency], states: Mapping[str, str]) -> Verdict:
    """Dependencies against the states of the tasks they name (absent: it was removed)."""
    waiting = False
    for dependency in after:
        state = states.get(dependency.task, "")
        if not state:
            return Verdict(False, f"{dependency.task} does not exist")
        over = state in (DONE, FAILED)
        if dependency.when == "success" and state == FAILED:
            return Verdict(False, f"{dependency.task} failed")
        if dependency.when == "failure" and state == DONE:
            return Verdict(False, f"{dependency.task} succeeded")
        waiting = waiting or not over
    return Verdict(not waiting)


class Liveness(NamedTuple):
    """How long others wait before they take a silent worker's task, and when that worker gives it up itself."""

    beat: float = 10.0
    fence: float = 120.0  # the worker kills its own tasks when its lease could not be renewed for so long
    reclaim: float = 300.0  # others may take them

    @property
    def look(self) -> float:
        """Seconds between two looks at other workers."""
        return min(self.beat, 5.0)

    @property
    def safe(self) -> bool:
        """Room for the kill between the fence and the reclaim."""
        return 0 < self.beat < self.fence and self.fence * 1.5 <= self.reclaim

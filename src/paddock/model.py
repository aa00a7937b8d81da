"""The values that Paddock's parts hand to each other: frozen, no behaviour."""

from __future__ import annotations

from array import array
from typing import Any, NamedTuple

import msgspec

QUEUED, PAUSED = "queued", "paused"  # a task whose file waits in a queue
RUNNING, FINISHED, FAILED, KILLED, LOST = "running", "finished", "failed", "killed", "lost"
STATES = (QUEUED, PAUSED, RUNNING, FINISHED, FAILED, KILLED, LOST)


class MetricStat(NamedTuple):
    """What a metric came to in one run (for the lowest rank that logged it)."""

    last: float | None  # None is NaN
    last_step: int
    min: float | None  # None when there was never a number
    min_step: int
    max: float | None
    max_step: int
    count: int  # type: ignore[assignment]


class Writer(msgspec.Struct, frozen=True):
    """One process that wrote to a run."""

    name: str
    role: str  # main, child, supervisor, annotation
    host: str
    pid: int
    rank: int | None
    attempt: int
    state: str  # running, finished, failed, killed, lost; "gone" for a child that ended without saying so
    started: float
    seen: float  # when it wrote last, by its own clock
    damaged: int = 0
    dropped: dict[str, int] = {}


class Progress(msgspec.Struct, frozen=True, gc=False):
    """How far a piece of work has come, over all processes that do a part of it."""

    id: str
    msg: tuple[str, ...]
    done: int | float
    total: int | float | None
    unit: str | None
    state: str  # running, done, failed; lost when who did it is gone
    fraction: float | None  # of the total; never 1 for what has failed or is lost
    rate: float | None  # units a second
    eta: float | None  # seconds left, at that rate
    started: float
    seen: float  # when something was last heard of it
    writers: tuple[str, ...] = ()


class LogLine(msgspec.Struct, frozen=True, gc=False):
    """One call of the `logging` module in one process of a run."""

    t: float
    level: int
    logger: str
    text: str
    where: str = ""  # file:line
    thread: str = ""  # unless it is the main one
    trace: str = ""  # of the exception that it reports
    writer: str = ""
    host: str = ""
    pid: int = 0
    rank: int | None = None
    offset: int = 0  # of the line in the writer's file


class Question(msgspec.Struct, frozen=True, gc=False):
    """What a process asks a person, and waits for."""

    id: str
    run: str
    prompt: str
    choices: tuple[str, ...] = ()
    default: str | None = None
    secret: bool = False
    asked: float = 0.0
    until: float | None = None  # then the default holds
    writer: str = ""
    host: str = ""


class RunRow(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A run as the catalog knows it."""

    id: str
    name: str
    project: str
    group: str | None = None
    job_type: str | None = None
    tags: tuple[str, ...] = ()
    notes: str = ""
    state: str
    reason: str = ""  # why it ended as it did: "exit code 3", "ValueError: ...", "signal TERM", "out of memory"
    created: float  # a task's submission
    started: float | None = None  # its first process
    ended: float | None = None
    seen: float = 0.0  # when any of its processes wrote last
    attempts: int = 1
    config: dict[str, Any] = {}
    summary: dict[str, Any] = {}
    metrics: dict[str, MetricStat] = {}
    info: dict[str, Any] = {}  # from log_info
    goals: dict[str, str] = {}  # metric -> "min" or "max", from define_metric
    axes: dict[str, str] = {}  # metric -> the metric to draw it over, from define_metric
    command: tuple[str, ...] = ()
    host: str = ""
    user: str = ""
    commit: str = ""
    code: str = ""  # digest of the code snapshot
    parent: str | None = None
    queue: str = ""  # that it waits in
    star: bool = False
    bug: bool = False
    alerts: int = 0
    progress: Progress | None = None  # the outermost work under way, else the last that ended
    damaged: int = 0  # journal lines that could not be read
    dropped: int = 0  # values that could not be recorded, as counted by the writers
    path: str = ""  # as text; bytes that are no text are written out, so open home.run(id).path instead


class Series(msgspec.Struct, frozen=True):
    """One metric of one run over its steps: sorted by step, the last written value of each."""

    run: str
    metric: str
    steps: array[int]  # int64
    values: array[Any]  # float64, or int64 when every value was a whole number
    times: array[float]  # float64, seconds since the epoch
    tags: dict[str, Any] = {}

    def __len__(self) -> int:
        return len(self.steps)

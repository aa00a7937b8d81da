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

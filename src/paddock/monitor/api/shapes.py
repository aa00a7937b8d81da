"""What the answers look like. Numbers are numbers but for the infinities, which are "inf" and "-inf"; NaN is null."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from paddock.model import Progress

Number = float | Literal["inf", "-inf"] | None
RunName = Annotated[str, Meta(description="A run's id, its name, or a beginning of either that fits one run only.")]


class Stat(Struct, frozen=True):
    """What a metric came to in one run."""

    last: Number
    last_step: int
    min: Number
    min_step: int
    max: Number
    max_step: int
    count: int
    best: Number


class Run(Struct, frozen=True, kw_only=True):
    """A run. Times are seconds since 1970."""

    id: str
    name: str
    project: str
    group: str | None
    job_type: str | None
    tags: tuple[str, ...]
    notes: str
    state: Literal["queued", "paused", "running", "finished", "failed", "killed", "lost"]
    reason: str
    created: float
    started: float | None
    ended: float | None
    seen: float
    attempts: int
    config: dict[str, Any]
    summary: dict[str, Any]
    metrics: dict[str, Stat]
    info: dict[str, Any]
    goals: dict[str, str]
    axes: dict[str, str]
    command: tuple[str, ...]
    host: str
    user: str
    commit: str
    code: str
    parent: str | None
    queue: str
    star: bool
    bug: bool
    alerts: int
    damaged: int
    dropped: int
    path: str
    progress: Progress | None


class RunList(Struct, frozen=True):
    """`total` fit the query; `runs` are those of this page. When columns were asked for there are `rows` instead, each
    with these keys; a key that a run has not is null."""

    version: int
    total: int
    unreadable: tuple[str, ...]
    runs: list[Run] = []
    rows: list[dict[str, Any]] = []


class Process(Struct, frozen=True):
    """A process that wrote to a run."""

    name: str
    role: str
    host: str
    pid: int
    rank: int | None
    attempt: int
    state: str
    started: float
    seen: float
    damaged: int
    dropped: dict[str, int]


class Brief(Struct, frozen=True):
    id: str
    name: str
    project: str
    state: str


class Detail(Struct, frozen=True):
    """Everything about one run. `facts` is its run.json; `records` are the others of its journals, by kind."""

    run: Run
    home: str
    facts: dict[str, Any]
    writers: list[Process]
    children: list[Brief]
    records: dict[str, list[dict[str, Any]]]


class Failure(Struct, frozen=True):
    message: str
    hint: str
    code: str


class Failed(Struct, frozen=True):
    """What every error looks like."""

    error: Failure

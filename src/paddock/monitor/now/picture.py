"""The picture of this minute: what runs, what waits, who works, and what somebody should look at. Values only.

This is also the JSON of `paddock top --json` and of `GET /api/v1/now`: docs/reference/top.md describes it.
"""

from __future__ import annotations

import msgspec

from paddock.model import Progress

Figure = float | str | None  # None is NaN; "inf" and "-inf" are what JSON cannot say


class Value(msgspec.Struct, frozen=True):
    metric: str
    value: Figure
    step: int


class Run(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    name: str
    project: str = ""
    state: str  # running, finished, failed, killed, lost; queued and paused when its task waits
    stalled: bool = False  # it runs, but has made no step for much longer than it uses to
    reason: str = ""
    host: str = ""
    user: str = ""
    attempt: int = 1
    created: float = 0.0
    started: float | None = None
    ended: float | None = None
    seconds: float = 0.0  # that it has run
    step: int | None = None
    step_seconds: float | None = None  # the median of its last steps
    silence: float | None = None  # seconds since its last step
    bars: tuple[Progress, ...] = ()  # what it works on, then what it did last
    values: tuple[Value, ...] = ()
    alerts: int = 0
    questions: int = 0
    queue: str = ""
    tags: tuple[str, ...] = ()


class Task(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    title: str
    queue: str
    state: str
    why: str = ""  # it waits, or what is wrong with it
    worker: str = ""
    worker_state: str = ""
    attempt: int = 0
    priority: int = 0
    seconds: float | None = None  # that it has run


class Queue(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    path: str
    counts: dict[str, int]
    slots: int = 0
    busy: int = 0
    more: int = 0  # tasks that wait beyond those that are told
    sure: bool = True  # all of it could be read
    away: str = ""  # why nothing is known of it now, as a sentence: a Redis that does not answer


class Worker(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    queue: str
    host: str
    pid: int
    state: str  # alive, silent, dead
    silence: float = 0.0
    slots: int = 1
    busy: int = 0
    gpus: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()


class Best(msgspec.Struct, frozen=True):
    metric: str
    value: Figure
    step: int | None
    checkpoint: str


class Watch(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    directory: str
    watched: bool
    evaluators: tuple[str, ...] = ()
    counts: dict[str, int] = {}
    best: Best | None = None
    last: str = ""  # the checkpoint that was found last
    trouble: str = ""  # of the evaluation that failed last


class Gpu(msgspec.Struct, frozen=True, kw_only=True):
    index: str
    name: str = ""
    use: float | None = None  # between 0 and 1
    memory: int | None = None  # bytes
    memory_total: int | None = None


class Process(msgspec.Struct, frozen=True, kw_only=True):
    """A process of a run, as it was sampled last."""

    run: str
    run_name: str = ""
    pid: int = 0
    rank: int | None = None
    cpu: float | None = None  # cores
    memory: int | None = None  # bytes
    gpu: float | None = None  # of one GPU, over all that it is on
    gpu_memory: int | None = None
    time: float = 0.0


class Host(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    here: bool = False
    cpus: int | None = None
    cpu: float | None = None  # between 0 and 1
    memory: int | None = None
    memory_total: int | None = None
    gpus: tuple[Gpu, ...] = ()
    processes: tuple[Process, ...] = ()
    runs: int = 0
    workers: int = 0


class Question(msgspec.Struct, frozen=True, kw_only=True):
    run: str
    run_name: str
    id: str
    prompt: str
    choices: tuple[str, ...] = ()
    default: str | None = None
    secret: bool = False
    time: float = 0.0
    until: float | None = None  # then the default holds


class Alert(msgspec.Struct, frozen=True, kw_only=True):
    run: str
    run_name: str
    title: str = ""
    text: str = ""
    level: str = ""
    time: float = 0.0


PRINT = "print"  # the logger of what a run printed


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """A log line."""

    n: int  # which one, counted by whoever reads
    time: float
    level: int
    text: str
    logger: str = ""
    where: str = ""
    run: str = ""
    run_name: str = ""
    host: str = ""
    rank: int | None = None


class Now(msgspec.Struct, frozen=True, kw_only=True):
    time: float
    home: str
    host: str = ""
    counts: dict[str, int] = {}  # of runs: running, stalled, and how those ended that ended lately
    runs: tuple[Run, ...] = ()
    queues: tuple[Queue, ...] = ()
    tasks: tuple[Task, ...] = ()
    workers: tuple[Worker, ...] = ()
    watches: tuple[Watch, ...] = ()
    hosts: tuple[Host, ...] = ()
    questions: tuple[Question, ...] = ()
    alerts: tuple[Alert, ...] = ()
    troubles: tuple[str, ...] = ()

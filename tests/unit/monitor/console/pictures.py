"""Pictures to draw."""

from __future__ import annotations

from typing import Any

from paddock.model import Progress
from paddock.monitor.console.screen import View, screen
from paddock.monitor.console.spans import plain
from paddock.monitor.console.state import Shown, State, press
from paddock.monitor.now.picture import (
    Alert,
    Best,
    Host,
    Line,
    Now,
    Question,
    Queue,
    Run,
    Task,
    Value,
    Watch,
    Worker,
)

NOW = 1_800_000_000.0


def bar(done: float, total: float | None = 100, state: str = "running", **more: Any) -> Progress:
    share = done / total if total else None
    facts = {
        "fraction": share,
        "msg": ("train",),
        "unit": "step",
        "rate": 2.0,
        "eta": 65.0,
        "started": NOW - 60,
        "seen": NOW,
    }
    return Progress(id="w.1", done=done, total=total, state=state, **(facts | more))


def run(id_: str, **facts: Any) -> Run:
    usual = {"name": f"name-{id_}", "state": "running", "host": "node1", "created": NOW - 600, "seconds": 300.0}
    return Run(id=id_, **(usual | facts))


def busy(**more: Any) -> Now:
    runs = (
        run("aa1", bars=(bar(61),), step=6100, values=(Value("train/loss", 0.12345, 6100), Value("acc", None, 5)),
            alerts=2),
        run("bb2", stalled=True, silence=200.0, step=17, bars=(bar(35, rate=None, eta=None),)),
        run("cc3", state="lost", reason="no sign of life from node7", host="node7", bars=(bar(99, state="lost"),)),
        run("dd4", state="failed", reason="ValueError: loss is nan", bars=(bar(100, state="failed", fraction=0.99),)),
        run("ee5", state="finished", bars=(bar(100, state="done"),)),
    )  # fmt: skip
    facts: dict[str, Any] = {
        "time": NOW,
        "home": "/home/ada/.paddock",
        "counts": {"running": 2, "stalled": 1, "lost": 1, "failed": 1, "finished": 1},
        "runs": runs,
        "queues": (Queue(name="gpu", path="/q", counts={"queued": 2, "active": 1}, slots=1, busy=1),),
        "tasks": (
            Task(id="aa1", title="sweep-0", queue="gpu", state="active", worker="node1-7", worker_state="alive",
                 seconds=61.0),
            Task(id="t-2", title="sweep-1", queue="gpu", state="queued", why="the slot is busy"),
            Task(id="t-3", title="sweep-2", queue="gpu", state="queued", why="after sweep-1, which is queued"),
        ),
        "workers": (
            Worker(name="node1-7", queue="gpu", host="node1", pid=7, state="alive", busy=1, tasks=("sweep-0",)),
            Worker(name="node2-9", queue="gpu", host="node2", pid=9, state="dead"),
        ),
        "watches": (
            Watch(
                id="w1", directory="/data/out/checkpoints", watched=True, counts={"pending": 1, "done": 3, "failed": 1},
                best=Best("acc/top1", 0.91, 700, "/data/out/checkpoints/700.pt"), trouble="RuntimeError: no",
            ),
        ),
        "hosts": (Host(name="node1", here=True, cpus=8, cpu=0.5, memory=4 << 30, memory_total=16 << 30, runs=2),),
        "alerts": (Alert(run="aa1", run_name="name-aa1", title="diverged", time=NOW),),
    }  # fmt: skip
    return Now(**(facts | more))


def lines(*texts: str, **facts: Any) -> tuple[Line, ...]:
    usual = {"level": 20, "run": "aa1", "run_name": "name-aa1", "host": "node1", "logger": "train"}
    return tuple(Line(n=i + 1, time=NOW + i, text=text, **(usual | facts)) for i, text in enumerate(texts))


def question(**facts: Any) -> Question:
    usual = {"run": "aa1", "run_name": "name-aa1", "id": "q1", "prompt": "Go on?", "time": NOW}
    return Question(**(usual | facts))


def drawn(
    now: Now, *, columns: int = 80, rows: int = 24, lines: Any = (), state: State | None = None, **more: Any
) -> str:
    view = View(now, lines, state or State(), **more)
    return "\n".join(plain(row) for row in screen(view, columns, rows))


class Pressed:
    """A console without a terminal: keys in, state and orders out."""

    def __init__(self, now: Now, lines: Any = ()) -> None:
        self.now, self.lines, self.state = now, lines, State()
        self.orders: list[Any] = []

    def __call__(self, *keys: str) -> State:
        for key in keys:
            self.state, order = press(self.state, key, self.now, Shown(self.now, self.lines, self.state))
            self.orders += [order] if order is not None else []
        return self.state

    def type(self, text: str) -> State:
        return self(*text)

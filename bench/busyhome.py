"""A busy home to look at: six trainings that run, one that stalled, one that is lost, ends of all kinds, a queue with
waiting tasks, a question and a watch. One process writes what many would:

    python -m bench.busyhome HOME [SECONDS]
"""

from __future__ import annotations

import math
import os
import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from paddock import wire
from paddock.evaluate.ledger.book import watch_id
from paddock.queue.directory import DirectoryQueue
from paddock.queue.entry.submission import submit
from paddock.record.journal import Journal
from paddock.record.layout import Home
from paddock.record.process import boot_id, start_ticks

NAMES = ("resnet50-lr0.1", "resnet50-lr0.03", "vit-small-aug", "vit-base", "llm-125m-ctx2k", "llm-350m-ctx2k")


class Training:
    """A run as a training process writes it."""

    def __init__(self, home: Home, name: str, total: int, age: float = 600.0, pid: int = 0, host: str = "") -> None:
        self.id = f"{abs(hash(name)) % 36**6:06x}{random.randrange(16**4):04x}"[:10]
        self.name, self.total, self.step = name, total, 0
        directory = home.run(self.id)
        for path in (directory.journals, directory.output, directory.path / "logs"):
            path.mkdir(parents=True)
        me = pid or os.getpid()
        host = host or os.uname().nodename
        facts = {
            "v": 1, "id": self.id, "name": name, "project": "vision" if "llm" not in name else "language",
            "tags": ["base"], "created": time.time() - age, "user": "ada", "command": ["train.py", f"--name={name}"],
            "config": {"lr": 0.1, "batch": 256}, "host": {"name": host, "cpus": 8},
        }  # fmt: skip
        directory.facts.write_bytes(wire.dumps(facts))
        self.writer = f"{host}-{me}-{os.urandom(3).hex()}"
        header = {
            "run": self.id, "writer": self.writer, "role": "main", "host": host, "pid": me,
            "start": start_ticks(me), "boot": boot_id(), "rank": None, "attempt": 1, "oom": -1,
        }  # fmt: skip
        self.journal = Journal(directory.journals / f"{self.writer}.jsonl", header)
        self.logs = Journal(directory.path / "logs" / f"{self.writer}.jsonl", header)
        self.journal.append({"k": "columns", "id": 0, "names": ["train/loss", "train/acc", "lr"]})

    def advance(self, steps: int) -> None:
        self.step = min(self.total, self.step + steps)
        x = self.step / self.total
        loss = 2.3 * math.exp(-3 * x) + random.uniform(0, 0.05)
        ms = int((time.time() - self.journal.started) * 1000)
        self.journal.write(wire.row_line([0, self.step, ms, loss, 0.95 * (1 - math.exp(-4 * x)), 0.1 * (1 - x)]))
        self.progress("running")

    def progress(self, state: str) -> None:
        bar = {"id": f"{self.writer}.1", "total": self.total, "done": self.step, "msg": ["train"], "unit": "step"}
        self.journal.append_now({"k": "progress", **bar, "state": state, "parts": False})

    def say(self, text: str, level: int = 20) -> None:
        self.logs.append_now({"k": "line", "level": level, "logger": "train", "text": text, "where": "train.py:42"})

    def end(self, **end: Any) -> None:
        self.journal.append_now({"k": "end", **end})


def ended(home: Home) -> None:
    good = Training(home, "mlp-baseline", 1000, age=3000)
    good.advance(1000)
    good.progress("done")
    good.end(code=0, reason="finished")
    bad = Training(home, "resnet50-lr9", 1000, age=2000)
    bad.advance(130)
    bad.progress("failed")
    bad.journal.append_now({"k": "alert", "title": "loss is NaN", "text": "at step 130", "level": "error"})
    bad.say("loss is nan at step 130, giving up [/red] 100%", 40)
    bad.end(code=1, reason="exception", exception={"type": "ValueError", "message": "loss is nan", "traceback": ""})
    gone = Training(home, "vit-large-出力🚀", 1000, age=1500, pid=(1 << 22) - 3)
    gone.advance(480)


def queue(home: Home) -> DirectoryQueue:
    for seed in range(12):
        submit(f"python train.py --seed {seed}", name=f"sweep-seed{seed}", home=home, snapshot=False, queue="gpu")
    first = submit("python prepare.py", name="prepare-data", home=home, snapshot=False)
    submit("python train.py", name="train-after-prepare", home=home, snapshot=False, after=[first.id])
    submit("python big.py", name="needs-8-gpus", home=home, snapshot=False, gpus=8)
    return DirectoryQueue(home.queues / "default")


def watch(home: Home) -> None:
    directory = "/data/runs/vit-small/checkpoints"
    place = home.path / "watches" / watch_id(directory)
    (place / "ledger").mkdir(parents=True)
    (place / "watch.json").write_bytes(wire.dumps({"v": 1, "directory": directory}))
    for step in range(100, 900, 100):
        key = f"{step:032x}"
        finding = {
            "key": key, "evaluator": "accuracy", "call": {"function": "e.py:acc"}, "fingerprint": "x",
            "path": f"{directory}/step-{step}.pt", "step": step, "found": time.time() - 900 + step,
        }  # fmt: skip
        (place / "ledger" / f"{key}.json").write_bytes(wire.dumps(finding))
        if step < 800:
            state = "failed" if step == 300 else "done"
            result = {"state": state, "reason": "RuntimeError: CUDA out of memory" if state == "failed" else "",
                      "values": {} if state == "failed" else {"acc": 0.5 + step / 2000}, "started": time.time() - 600,
                      "ended": time.time() - 590}  # fmt: skip
            (place / "ledger" / f"{key}.result").write_bytes(wire.dumps(result))


def make(path: Path) -> Iterator[None]:
    """Each step is a tenth of a second in the life of the home."""
    random.seed(7)
    home = Home(path)
    home.prepare()
    ended(home)
    queue(home)
    watch(home)
    hosts = ("", "", "", "", "", "")
    running = [
        Training(home, name, 2000 * (i + 1), 600 + 100 * i, host=host)
        for i, (name, host) in enumerate(zip(NAMES, hosts, strict=True))
    ]
    stuck = Training(home, "diffusion-64px", 5000, 900)
    for i, training in enumerate(running):
        training.step = 300 * (i + 1)
    stuck.step = 1700
    running[2].journal.append_now(
        {"k": "ask", "id": "q1", "prompt": "Loss has plateaued. Lower the learning rate?", "choices": ["yes", "no"]}
    )
    tick = 0
    while True:
        for i, training in enumerate(running):
            if tick % (i + 1) == 0:
                training.advance(3)
            if tick % 50 == 5 * i:
                training.say(f"epoch {tick // 50 + 3} step {training.step}: loss falls")
            if tick % 170 == 13 * i:
                training.say("gradient norm above 10, clipped", 30)
            if tick % 50 == 0:
                training.journal.append_now({"k": "beat"})
        if tick < 30:
            stuck.advance(2)
        if tick % 50 == 0:
            stuck.journal.append_now({"k": "beat"})
        tick += 1
        yield


def main() -> None:
    home, seconds = Path(sys.argv[1]).absolute(), float(sys.argv[2]) if len(sys.argv) > 2 else math.inf
    end = time.monotonic() + seconds
    for _ in make(home):
        if time.monotonic() > end:
            return
        time.sleep(0.1)


if __name__ == "__main__":
    main()

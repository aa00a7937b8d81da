"""A home with one of everything that the board shows, made by the real command line: a sweep that a worker ran, a
training whose checkpoints were evaluated, ends of every kind, tasks that wait, a run that goes on and asks."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

from tests.waiting import until

SOURCE = str(Path(__file__).parents[3] / "src")
PROJECT = "harvest"
LRS, SEEDS = (0.3, 0.03), (0, 1)
STEPS = 40

TRAIN = """
import argparse, logging, math, os, pathlib, struct, sys, zlib
import paddock
from paddock.monitor.usage import Usage

parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=0.1)
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--end", default="")
parser.add_argument("--out", default="")
given = parser.parse_args()


def picture(path):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = b"".join(b"\\0" + bytes((40 + x * 3) % 256 for x in range(64)) for _ in range(64))
    head = struct.pack(">IIBBBBB", 64, 64, 8, 0, 0, 0, 0)
    parts = [chunk(b"IHDR", head), chunk(b"IDAT", zlib.compress(rows)), chunk(b"IEND", b"")]
    path.write_bytes(b"\\x89PNG\\r\\n\\x1a\\n" + b"".join(parts))
    return path


config = {"optimizer": {"lr": given.lr, "name": "sgd"}, "seed": given.seed, "layers": [64, 10]}
name = f"{given.end or 'train'}-lr{given.lr}-s{given.seed}"
run = paddock.init(project="harvest", name=name, config=config, capture_logging=True, usage=given.end == "ask")
run.define_metric("val/acc", goal="max")
print("\\x1b[1mstart\\x1b[0m with \\x1b[32mlr", given.lr, "\\x1b[0m")
if given.end == "ask":
    Usage.checkpoint("begin")
for step in range(40):
    loss = math.exp(-given.lr * step / 10) + 0.02 * math.sin(step + given.seed)
    run.log({"train/loss": loss, "train/norm": 1 + loss * loss}, step=step)
    if step % 10 == 9:
        run.log({"val/acc": 1 - loss / 2, "epoch": step // 10}, step=step)
        logging.info("epoch %d: loss %.3f", step // 10, loss)
        if given.out:
            pathlib.Path(given.out).mkdir(parents=True, exist_ok=True)
            pathlib.Path(given.out, f"step={step}.json").write_text(str(loss))
if given.end == "fail":
    run.alert("The loss diverged", "It is nan at step 39.", level="error")
    raise ValueError("loss is nan at step 39")
if given.end == "lose":
    os.kill(os.getpid(), 9)
if given.end == "ask":
    bar = paddock.monitor.Progress.new(total=100, msg=("train",), unit="step")
    bar.advance(42)
    Usage.checkpoint("asked")
    print("the answer is", paddock.ask("The loss has plateaued. Lower the learning rate?", choices=["yes", "no"]))
    bar.advance(58)
    sys.exit(0)
run.log_image("sample", str(picture(pathlib.Path(run.dir) / "sample.png")), step=39)
rows = [{"class": "tench", "recall": 0.25}, {"class": "goldfish", "recall": 0.75}]
run.log_table("per class", rows, step=39)
print("done")
"""

EVALUATE = """
import json, sys

def score(path):
    loss = float(open(path).read())
    if "step=29" in path:
        raise RuntimeError("this checkpoint cannot be read")
    return {"acc": 1 - loss, "loss": loss}
"""


@dataclass
class Laboratory:
    """`url` answers; `link` lets one browser in. `running` are what must be ended."""

    home: Path
    work: Path
    environment: dict[str, str]
    url: str = ""
    running: list[subprocess.Popen[Any]] = field(default_factory=list)

    def paddock(self, *words: str) -> str:
        """The real command line; it must succeed."""
        done = subprocess.run(self._command(words), **self._ways(), timeout=60, capture_output=True, text=True)
        assert done.returncode == 0, (words, done.stderr)
        return done.stdout

    def start(self, *words: str, module: str = "paddock") -> subprocess.Popen[Any]:
        with open(self.work / f"{len(self.running)}.out", "wb") as out:
            started = subprocess.Popen(
                [sys.executable, "-m", module, *words], stdout=out, stderr=out, stdin=subprocess.DEVNULL, **self._ways()
            )
        self.running.append(started)
        return started

    def python(self, *words: str, **environment: str) -> subprocess.Popen[Any]:
        ways = self._ways() | {"env": self.environment | environment}
        started = subprocess.Popen(
            [sys.executable, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **ways
        )
        self.running.append(started)
        return started

    def link(self) -> str:
        return self.paddock("serve", "--link", "--quiet").strip()

    def get(self, path: str) -> Any:
        """What the API says, read by another program than the browser."""
        with urlopen(f"{self.url}/api/v1{path}", timeout=20) as answer:
            return json.load(answer)

    def post(self, path: str, body: Any) -> Any:
        token = (self.home / "server/token").read_text().strip()
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        with urlopen(Request(f"{self.url}/api/v1{path}", json.dumps(body).encode(), headers), timeout=20) as answer:
            return json.load(answer)

    def sweep(self) -> list[str]:
        """The ids of the runs of the sweep."""
        return [run["id"] for run in self.get("/runs?limit=500&q=name~sweep")["runs"]]

    def named(self, name: str) -> dict[str, Any]:
        """The run, as soon as the server has seen it."""
        found: dict[str, Any] = until(lambda: [r for r in self.get("/runs?limit=500")["runs"] if r["name"] == name])[0]
        return found

    def watch(self, directory: str) -> dict[str, Any]:
        """The watch of a directory of that name."""
        return next(one for one in self.get("/watches")["watches"] if Path(one["directory"]).name == directory)

    def serve(self) -> None:
        server = subprocess.Popen(
            self._command(("serve", "--address", "127.0.0.1:0", "--json")), stdout=subprocess.PIPE, **self._ways()
        )
        self.running.append(server)
        assert server.stdout is not None
        self.url = json.loads(server.stdout.readline())["urls"][0]

    def close(self) -> None:
        for process in reversed(self.running):
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
        for process in reversed(self.running):
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            if process.stdout is not None:
                process.stdout.close()

    def _command(self, words: tuple[str, ...]) -> list[str]:
        return [sys.executable, "-m", "paddock", *words]

    def _ways(self) -> dict[str, Any]:
        return {"cwd": self.work, "env": self.environment}


@contextmanager
def laboratory(directory: Path) -> Iterator[Laboratory]:
    """Empty, with a server."""
    work = directory / "work"
    work.mkdir(parents=True)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PADDOCK_", "SLURM_"))}
    environment = kept | {
        "PYTHONPATH": SOURCE,
        "PADDOCK_HOME": str(directory / "home"),
        "PADDOCK_CACHE": str(directory / "cache"),
        "PADDOCK_USAGE_SECONDS": "0.2",
    }
    lab = Laboratory(directory / "home", work, environment)
    (directory / "home").mkdir()
    try:
        lab.serve()
        yield lab
    finally:
        lab.close()


def fill(lab: Laboratory) -> None:
    """One of everything."""
    (lab.work / "train.py").write_text(TRAIN)
    (lab.work / "evaluate.py").write_text(EVALUATE)
    python = sys.executable
    asking = lab.python("train.py", "--end", "ask")
    lost = lab.python("train.py", "--end", "lose")
    (lab.work / "out").mkdir()
    watch = lab.start(
        *("watch", "out", "--evaluator", "evaluate.py:score", "--regex-filter", r"\.json$", "--quiet-time", "0.2s"),
        *("--num-eval-workers", "1", "--plain", "--metric", "acc", "--goal", "max"),
    )
    lab.paddock(
        *("submit", "--project", PROJECT, "--no-snapshot", "--grid", "lr=0.3,0.03", "--grid", "seed=0..1"),
        *("--name", "sweep", "--quiet", "--", python, "train.py", "--lr", "{lr}", "--seed", "{seed}"),
    )
    lab.paddock("submit", "--no-snapshot", "--project", PROJECT, "--name", "bad", "--", f"{python} train.py --end fail")
    lab.paddock("submit", "--no-snapshot", "--name", "huge", "--gpus", "64", "--", "echo never")
    lab.start("worker", "--slots", "2")
    until(lambda: list(lab.home.glob("watches/*/begun")))
    watched = lab.python("train.py", "--lr", "0.2", "--out", "out/first")
    assert watched.wait(60) == 0
    assert lost.wait(60) == -signal.SIGKILL
    until(lambda: len(list(lab.home.glob("queues/evaluation/done/*"))) == 3)
    until(lambda: len(list(lab.home.glob("queues/evaluation/failed/*"))) == 1)
    until(lambda: len(list(lab.home.glob("queues/default/done/*"))) == len(LRS) * len(SEEDS))
    until(lambda: len(list(lab.home.glob("queues/default/failed/*"))) == 1)
    until(lambda: lab.get("/questions")["questions"])
    lab.paddock("submit", "--no-snapshot", "--name", "later", "--chk", "false", "--", "echo later")
    assert asking.poll() is None and watch.poll() is None
    lab.post(
        "/reports", report("What the sweep says", "# Learning rates\n\n**0.3** wins, see [runs](/runs).", lab.sweep())
    )


def report(title: str, prose: str, runs: list[str]) -> dict[str, Any]:
    blocks = [{"kind": "text", "text": prose}, {"kind": "comparison", "text": "&".join(f"run={run}" for run in runs)}]
    return {"title": title, "blocks": blocks}

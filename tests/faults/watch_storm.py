"""Checkpoints appear and are rotated away, while the watcher is killed again and again. Then evaluations are counted.

python -m tests.faults.watch_storm --checkpoints 2000 --kills 200

The watchers are forks of this process, so that a new one takes milliseconds. What evaluates takes tasks from the queue
by the same rename as a worker, and evaluates each in a fork: with --workers real ones do it, which start an interpreter
for each.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import json
import os
import random
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path
from typing import NamedTuple

from paddock.evaluate import call
from paddock.evaluate.evaluators.evaluator import Evaluator
from paddock.evaluate.origin.look import PINS
from paddock.evaluate.origin.scan import DEFAULT_PATTERN, compile_pattern
from paddock.evaluate.training import run as training
from paddock.evaluate.watching.options import Options
from paddock.evaluate.watching.vigil import Vigil
from paddock.evaluate.watching.watch import Watching
from paddock.queue.directory import find_queue
from paddock.queue.lifecycle import ACTIVE, DONE, FAILED, QUEUED, Token, ended
from paddock.record.layout import Home
from tests.faults.farm import forked
from tests.waiting import until

EVALUATOR = """
import os, zipfile

def acc(path):
    with zipfile.ZipFile(path) as file:  # half of one would raise
        content = file.read("data").decode()
    log = os.open({log!r}, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(log, (content + "\\n").encode())
    return len(content)
"""


class Count(NamedTuple):
    checkpoints: int
    evaluated: int  # different ones
    missed: int
    double: int
    failed: int
    pins: int  # left over
    kills: int
    seconds: float

    @property
    def is_right(self) -> bool:
        return self.evaluated == self.checkpoints and not (self.missed or self.double or self.failed or self.pins)


class Storm:
    def __init__(self, directory: Path, seed: int) -> None:
        self.directory, self.chance = directory, random.Random(seed)
        self.home = Home(directory / "home")
        self.home.prepare()
        self.out = directory / "out"
        self.out.mkdir()
        self.log = directory / "log"
        self.log.touch()
        (directory / "metrics.py").write_text(EVALUATOR.format(log=str(self.log)))
        self.queue = find_queue("evaluation", self.home)
        self.queue.prepare()
        self.run = training.make(self.home, str(self.out))
        self.forks: dict[int, str] = {}
        self.workers: list[subprocess.Popen[bytes]] = []
        self.watching().look()  # the watch has begun: whatever comes now is new

    def watching(self) -> Watching:
        acc = Evaluator("acc", {"function": f"{self.directory}/metrics.py:acc"})
        options = Options(compile_pattern(DEFAULT_PATTERN), (acc,), quiet=0.05, isolate=True)
        return Watching(self.home, str(self.out), self.queue, options, lambda path: self.run, lambda text: None)

    def fork(self, act: object, name: str) -> int:
        pid, go = forked(act, self.directory / "errors")  # type: ignore[arg-type]
        os.close(go)
        self.forks[pid] = name
        return pid

    def kill(self, pid: int) -> None:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        del self.forks[pid]

    # Who does what

    def watch(self) -> None:
        Vigil([self.watching()], 5.0).keep(lambda: False)

    def train(self, count: int, keep: int, rate: float) -> None:
        """Most appear by a rename, some are written in place; one `last.pt` is written over; the oldest are deleted.
        What has not been seen yet is not deleted: a trainer has minutes between two, and we have milliseconds."""
        chance, began = random.Random(1), time.monotonic()
        names: collections.deque[Path] = collections.deque()
        for number in range(count):
            time.sleep(max(0.0, began + number / rate - time.monotonic()))
            way = chance.random()
            path = self.out / ("last.pt" if way < 0.01 else f"step={number}.pt")
            if way < 0.01 and path.exists():
                # Written over while it is evaluated it would be evaluated twice: who knows what was read?
                # On a busy machine hundreds wait before it.
                until(lambda path=path: self._is_evaluated(path) and os.stat(path).st_nlink == 1, 3600)  # type: ignore[misc]
            save(path, f"checkpoint {number}", in_place=way > 0.9)
            if way >= 0.01:
                names.append(path)
            while keep and len(names) > keep:
                old = names.popleft()
                until(lambda old=old: self._is_known(old), 3600)  # type: ignore[misc]
                old.unlink()

    def _is_evaluated(self, path: Path) -> bool:
        with zipfile.ZipFile(path) as file:
            return file.read("data").decode() in self.log.read_text().splitlines()

    def _is_known(self, path: Path) -> bool:
        """Kept by a pin, or evaluated already."""
        pins = self.out / PINS
        if os.stat(path).st_nlink > 1:
            with contextlib.suppress(FileNotFoundError):  # one is removed just now
                kept = [one for one in pins.iterdir() if not one.name.endswith(".tmp")]
                if any((one / path.name).samefile(path) for one in kept if (one / path.name).exists()):
                    return True
        return self._is_evaluated(path)

    def evaluate(self) -> None:
        me = Token(f"hand-{os.getpid()}", 1)
        os.environ |= {"PADDOCK_RUN_HOME": str(self.home.path), "PADDOCK_CAPTURE_CODE": "false"}
        os.environ |= {"PADDOCK_CAPTURE_ENVIRONMENT": "false", "PADDOCK_CAPTURE_OUTPUT": "false"}
        while True:
            places = self.queue.list([QUEUED]).places
            for place in places:
                mine = self.queue.claim(place, me)
                if mine is None:
                    continue
                command = shlex.split(self.queue.read(mine).task.command)
                child = os.fork()
                if not child:
                    os.environ["PADDOCK_RUN_ID"] = mine.id
                    sys.stderr = open(self.directory / "evaluations", "a")  # noqa: SIM115
                    os._exit(_code(command[3:]))
                code = os.waitpid(child, 0)[1]
                self.queue.move(mine, ended(mine, FAILED if code else DONE))
            if not places:
                time.sleep(0.01)

    def start_workers(self, number: int) -> None:
        environ = {**os.environ, "PADDOCK_HOME": str(self.home.path), "PADDOCK_CACHE": str(self.directory / "cache")}
        command = [sys.executable, "-m", "paddock", "worker", str(self.queue.path), "--quiet", "--slots", str(number)]
        self.workers.append(subprocess.Popen(command, env=environ))

    # The end

    @property
    def left(self) -> int:
        return sum(len(os.listdir(self.queue.directory(state))) for state in (QUEUED, ACTIVE))

    def count(self, checkpoints: int, kills: int, seconds: float) -> Count:
        contents = collections.Counter(self.log.read_text().splitlines())
        watching = self.watching()
        watching.look()
        until(lambda: watching.look() is None)  # pins of what is over are believed to be of no use after a while
        states = [watching.ledger.result(name.removesuffix(".result")) for name in watching.ledger.names()]
        missed = sum(one is not None and one.state == "missed" for one in states)
        pins = len(list((self.out / PINS).iterdir())) if (self.out / PINS).is_dir() else 0
        failed = len(os.listdir(self.queue.directory(FAILED)))
        double = sum(number - 1 for number in contents.values())
        return Count(checkpoints, len(contents), missed, double, failed, pins, kills, round(seconds, 1))

    def close(self) -> None:
        for pid in list(self.forks):
            self.kill(pid)
        for worker in self.workers:
            worker.terminate()
            worker.wait()


def _code(arguments: list[str]) -> int:
    try:
        return call.run(arguments)
    except BaseException:
        import traceback

        traceback.print_exc()
        sys.stderr.flush()
        return 1


def save(path: Path, content: str, *, in_place: bool) -> None:
    aside = path if in_place else path.with_name(f".{path.name}.tmp")
    with zipfile.ZipFile(aside, "w") as file:
        file.writestr("data", content)
        if in_place:
            file.fp.flush()  # type: ignore[union-attr]
            time.sleep(0.02)
    if not in_place:
        aside.rename(path)


def storm(
    directory: Path, checkpoints: int, kills: int, keep: int, rate: float, workers: int, watchers: int, seed: int
) -> Count:
    one = Storm(directory, seed)
    began = time.monotonic()
    try:
        if workers:
            one.start_workers(workers)
        else:
            for _ in range(2):
                one.fork(one.evaluate, "evaluate")
        trainer = one.fork(lambda: one.train(checkpoints, keep, rate), "train")
        running = [one.fork(one.watch, "watch") for _ in range(watchers)]
        pause = checkpoints / rate / max(kills, 1)
        for _ in range(kills):
            time.sleep(one.chance.random() * 2 * pause)
            which = one.chance.randrange(watchers)
            one.kill(running[which])
            running[which] = one.fork(one.watch, "watch")
        until(lambda: os.waitpid(trainer, os.WNOHANG)[0], 3600, pause=0.05)
        del one.forks[trainer]
        until(lambda: _is_done(one, checkpoints), 3600, pause=0.1)
        time.sleep(0.5)  # in which a double one would come
        until(lambda: not one.left, 600)
        for pid in running:
            one.kill(pid)
        errors = (directory / "errors").read_text() if (directory / "errors").exists() else ""
        assert "Traceback" not in errors, errors[-3000:]
        return one.count(checkpoints, kills, time.monotonic() - began)
    finally:
        one.close()


def _is_done(one: Storm, checkpoints: int) -> bool:
    """All are evaluated; or nothing happens any more, and some are not."""
    before = one.log.stat().st_size
    if len(set(one.log.read_text().splitlines())) >= checkpoints:
        return True
    deadline = time.monotonic() + 15
    while one.log.stat().st_size == before and time.monotonic() < deadline:
        time.sleep(0.05)
    return one.log.stat().st_size == before and not one.left


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkpoints", type=int, default=500)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--keep", type=int, default=0, help="delete all but the newest")
    parser.add_argument("--rate", type=float, default=100.0, help="checkpoints a second")
    parser.add_argument("--workers", type=int, default=0, help="evaluations at once, by a real worker")
    parser.add_argument("--watchers", type=int, default=1)
    parser.add_argument("--seed", type=int, default=random.randrange(10_000))
    given = parser.parse_args()
    directory = Path(tempfile.mkdtemp(prefix="paddock-watch-storm-"))
    found = storm(directory, **vars(given))
    print(json.dumps({**found._asdict(), "seed": given.seed}))
    if not found.is_right:
        sys.exit(f"The histories are in {directory}.")
    shutil.rmtree(directory)


if __name__ == "__main__":
    main()

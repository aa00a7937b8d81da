"""Workers on one queue, and every 200 ms one of them, its guard, or both are killed. Then the checker counts.

python -m tests.faults.soak --workers 8 --tasks 20000 --every 0.2
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

from paddock.queue.directory import find_queue
from paddock.queue.lifecycle import ACTIVE, CHECKING, POISON, QUEUED
from paddock.work.options import Options
from paddock.work.slots import Slots
from paddock.work.worker import Worker
from tests.faults.checker import Count, check
from tests.faults.farm import Farm, forked
from tests.waiting import until

BODIES = ("true", "true", "sleep 0.02", "sleep 0.1 & wait", "setsid sleep 0.05", "(sleep 0.2 &); sleep 0.05")
BATCH = 500


class Soak:
    """Its workers are forks of this process: a new one takes milliseconds, so that there are always many to kill."""

    def __init__(self, farm: Farm, workers: int, seed: int) -> None:
        self.farm, self.chance = farm, random.Random(seed)
        self.tasks: list[str] = []
        self.kills = dict.fromkeys(("worker", "guard", "both"), 0)
        self.running = [self.start() for _ in range(workers)]

    def start(self) -> int:
        listen = self.chance.random() < 0.5  # the others look at the directories, as on a network disk

        def work() -> None:
            options = Options(Slots(2, ()), grace=5.0, listen=listen)
            Worker(self.farm.home, [find_queue("default", self.farm.home)], options, self.farm.directory).run()

        pid, go = forked(work, self.farm.directory / "errors")
        os.close(go)
        return pid

    def submit(self, count: int) -> None:
        for _ in range(0, count, BATCH):
            body = self.chance.choice(BODIES)
            self.tasks += [task.id for task in self.farm.submit(body, min(BATCH, count - len(self.tasks)))]

    def kill_one(self) -> None:
        """One that has only just started can be hit too. Whoever has ended is started again."""
        worker = self.chance.choice(self.running)
        what = self.chance.choice(list(self.kills))
        guards = [int(one.guard.split()[0]) for one in self.farm.identities() if one.pid == worker and one.guard]
        for pid in (*(guards if what != "worker" else ()), *([worker] if what != "guard" else ())):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.kills[what] += 1
        self.running = [self.start() if os.waitpid(pid, os.WNOHANG)[0] else pid for pid in self.running]

    def end(self) -> None:
        for pid in self.running:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        self.farm.close()

    @property
    def left(self) -> int:
        return sum(len(os.listdir(self.farm.queue.directory(state))) for state in (QUEUED, CHECKING, ACTIVE))


def soak(directory: Path, workers: int, tasks: int, every: float, seed: int, seconds: float) -> tuple[Count, dict]:
    """Kill until nothing is left to do, at most for so many seconds; then let healthy workers do the rest."""
    one = Soak(Farm(directory), workers, seed)
    try:
        one.submit(tasks)
        began = shown = time.monotonic()
        left, kill_at = tasks, began
        while left and time.monotonic() - began < seconds:
            one.kill_one()
            kill_at += every
            time.sleep(max(kill_at - time.monotonic(), 0.01))
            if time.monotonic() - shown > 5 or left < 100:
                left = one.left
            if time.monotonic() - shown > 5:
                shown = time.monotonic()
                print(f"{shown - began:4.0f} s: {left} left, killed {one.kills}", file=sys.stderr, flush=True)
        until(lambda: not one.left, 600, pause=0.5)
        errors = (directory / "errors").read_text()
        assert "Traceback" not in errors, errors[-3000:]
        return check(one.farm, one.tasks), one.kills
    finally:
        one.end()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--tasks", type=int, default=20_000)
    parser.add_argument("--every", type=float, default=0.2, help="seconds between two kills")
    parser.add_argument("--seconds", type=float, default=3600, help="stop killing after so long")
    parser.add_argument("--seed", type=int, default=random.randrange(10_000))
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    directory = Path(tempfile.mkdtemp(prefix="paddock-soak-"))
    began = time.monotonic()
    found, kills = soak(directory, given.workers, given.tasks, given.every, given.seed, given.seconds)
    if given.json:
        print(json.dumps({**found._asdict(), "kills": kills}))
    else:
        print(f"seed {given.seed}: {time.monotonic() - began:.0f} s, killed {kills}")
        print(f"{found.tasks} tasks, begun {found.begun} times, run to their end twice {found.repeated}")
        print(
            f"done {found.done}, failed {found.failed}, given up after {POISON} losses in a row {found.given_up}; "
            f"lost {found.lost}, double {found.double}, stuck {found.stuck}"
        )
    if any(found.faults) or found.failed:
        sys.exit(f"The histories are in {directory}.")
    shutil.rmtree(directory)


if __name__ == "__main__":
    main()

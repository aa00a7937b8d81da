"""Workers on one queue, and every 200 ms one of them, its guard, or both are killed. Then the checker counts.

python -m tests.faults.soak --workers 8 --tasks 20000 --every 0.2
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

from paddock.queue.lifecycle import ACTIVE, CHECKING, QUEUED
from tests.faults.checker import Count, check
from tests.faults.farm import Farm, until

BODIES = ("true", "true", "sleep 0.02", "sleep 0.1 & wait", "setsid sleep 0.05", "(sleep 0.2 &); sleep 0.05")
BATCH = 500


class Soak:
    def __init__(self, farm: Farm, workers: int, seed: int) -> None:
        self.farm, self.chance = farm, random.Random(seed)
        self.tasks: list[str] = []
        self.kills = dict.fromkeys(("worker", "guard", "both"), 0)
        self.running = [farm.start("--slots", "2") for _ in range(workers)]

    def submit(self, count: int) -> None:
        for _ in range(0, count, BATCH):
            body = self.chance.choice(BODIES)
            self.tasks += [task.id for task in self.farm.submit(body, min(BATCH, count - len(self.tasks)))]

    def kill_one(self) -> None:
        """One that has only just started can be hit too. Whoever has ended is started again."""
        worker = self.chance.choice(self.running)
        what = self.chance.choice(list(self.kills))
        guards = [int(one.guard.split()[0]) for one in self.farm.identities() if one.pid == worker.pid and one.guard]
        if worker.poll() is None:
            for pid in (*(guards if what != "worker" else ()), *([worker.pid] if what != "guard" else ())):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            self.kills[what] += 1
        self.running = [one if one.poll() is None else self.farm.start("--slots", "2") for one in self.running]

    @property
    def left(self) -> int:
        return len(self.farm.queue.list([QUEUED, CHECKING, ACTIVE]).places)


def soak(directory: Path, workers: int, tasks: int, every: float, seed: int, seconds: float) -> tuple[Count, dict]:
    """Kill until nothing is left to do, at most for so many seconds; then let healthy workers do the rest."""
    farm = Farm(directory)
    try:
        one = Soak(farm, workers, seed)
        one.submit(tasks)
        began = shown = time.monotonic()
        while one.left and time.monotonic() - began < seconds:
            one.kill_one()
            time.sleep(every)
            if time.monotonic() - shown > 10:
                shown = time.monotonic()
                print(f"{shown - began:4.0f} s: {one.left} left, killed {one.kills}", file=sys.stderr, flush=True)
        until(lambda: not one.left, 600, pause=0.5)
        return check(farm, one.tasks), one.kills
    finally:
        farm.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--tasks", type=int, default=20_000)
    parser.add_argument("--every", type=float, default=0.2, help="seconds between two kills")
    parser.add_argument("--seconds", type=float, default=3600, help="stop killing after so long")
    parser.add_argument("--seed", type=int, default=random.randrange(10_000))
    given = parser.parse_args()
    directory = Path(tempfile.mkdtemp(prefix="paddock-soak-"))
    began = time.monotonic()
    found, kills = soak(directory, given.workers, given.tasks, given.every, given.seed, given.seconds)
    print(f"seed {given.seed}: {time.monotonic() - began:.0f} s, killed {kills}")
    print(f"{found.tasks} tasks, begun {found.begun} times, run to their end twice {found.repeated}")
    print(f"done {found.done}, failed {found.failed}; lost {found.lost}, double {found.double}, stuck {found.stuck}")
    if any(found.faults) or found.failed:
        sys.exit(f"The histories are in {directory}.")
    shutil.rmtree(directory)


if __name__ == "__main__":
    main()

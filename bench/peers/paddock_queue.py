"""Paddock's directory queue on a local disk: `paddock worker` processes, tasks by submit_all(), every promise kept."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from bench import tasks
from bench.processes import started, wait_until
from bench.taskqueue import Client, TaskQueue

QUEUE = "bench"
PROJECT = {"train.py": "print('a training')\n", "model.py": "LAYERS = 12\n", "README.md": "A small project.\n"}
BATCH = 5_000
# The worker as it is on a disk of the network, where the kernel tells nothing of what others do.
LISTING_WORKER = """
import paddock.work.queues.mirror
from paddock.cli.main import main
paddock.work.queues.mirror.is_local = lambda path: False
main()
"""


class PaddockQueue(TaskQueue):
    submits_at_once = True
    freezes = True  # the code as it was at submit: a git repository with a few files
    pause = 1.2  # tasks that are submitted within a second share a snapshot of the code
    wakes = True

    def root(self, home: Path) -> Path:
        return home / "paddock"

    def environment(self, home: Path) -> dict[str, str]:
        return {"PADDOCK_HOME": str(self.root(home)), "PADDOCK_CACHE": str(home / "cache")}

    @contextlib.contextmanager
    def serving(self, home: Path, workers: int) -> Iterator[Client]:
        project = make_project(home)
        with contextlib.ExitStack() as stack:
            for _ in range(workers):
                stack.enter_context(started(self.worker_command(), home))
            yield self.client(home, project)

    def worker_command(self) -> list[str]:
        program = ["-m", "paddock"] if self.wakes else ["-c", LISTING_WORKER]
        return [sys.executable, *program, "worker", QUEUE]

    def without_wake(self) -> None:
        """From now on the workers are not woken by the kernel, and find tasks by listing alone."""
        self.wakes = False

    def status_arguments(self) -> list[str]:
        return ["-Q", QUEUE]

    def client(self, home: Path, project: Path) -> PaddockClient:
        return PaddockClient(self.root(home) / "queues" / QUEUE, project, self.freezes)


class PaddockInPlace(PaddockQueue):
    """--no-snapshot: the code as it is when the task starts, as with all the others."""

    name = "paddock in place"
    freezes = False
    pause = TaskQueue.pause


class PaddockClient:
    def __init__(self, queue: Path, project: Path, freezes: bool) -> None:
        self.queue = queue
        self.about = {"cwd": str(project), "snapshot": freezes}

    def submit(self, count: int, task: str = "nothing") -> None:
        self.put([{"cmd": tasks.NOTHING}] * count)

    def tell(self, pipe: Path, hold: Path | None = None) -> None:
        self.put([{"cmd": tasks.telling(str(pipe), str(hold or ""))}])

    def put(self, wanted: Sequence[dict[str, Any]]) -> list[str]:
        from paddock.queue import submit_all

        return [task.id for task in submit_all([self.about | one for one in wanted], queue=QUEUE)]

    def wait(self) -> None:
        wait_until(self.is_over, "Paddock's tasks end", every=0.01)
        if failed := self.names("failed"):
            raise RuntimeError(f"{len(failed)} tasks failed")

    def is_over(self) -> bool:
        """The short list is looked at first, so that looking does not take the workers' time; it decides nothing, for a
        task goes from `queued` to `active`, and would be missed in between."""
        return not self.names("active") and not (self.names("queued") or self.names("active"))

    def names(self, state: str) -> list[str]:
        return os.listdir(self.queue / state)

    # What only Paddock is asked for

    def fill(self, count: int, pipe: Path) -> None:
        """Until so many tasks wait, each of which will tell when it begins."""
        command = {"cmd": tasks.telling(str(pipe))}
        while (missing := count - len(self.names("queued"))) > 0:
            self.put([command] * min(missing, BATCH))

    def block(self, count: int) -> None:
        """So many tasks that wait for one that is paused (and needs a GPU, so that no worker takes it before)."""
        (first,) = self.put([{"cmd": tasks.NOTHING, "gpus": 1}])
        os.rename(self.queue / "queued" / first, self.queue / "paused" / first)
        self.put([{"cmd": tasks.NOTHING, "after": [first]}] * count)

    def end(self, count: int) -> None:
        """So many tasks that were done long ago. `mv` is an interface."""
        while count > 0:
            ids = self.put([{"cmd": tasks.NOTHING}] * min(count, BATCH))
            for task in ids:
                os.rename(self.queue / "queued" / task, self.queue / "done" / task)
            count -= len(ids)


def make_project(home: Path) -> Path:
    project = home / "project"
    if not project.exists():
        project.mkdir()
        for name, text in PROJECT.items():
            (project / name).write_text(text)
        author = ["-c", "user.name=bench", "-c", "user.email=bench@localhost"]
        for command in (["init", "-q"], ["add", "."], [*author, "commit", "-q", "-m", "A small project"]):
            subprocess.run(["git", *command], cwd=project, check=True)
    return project

"""Programs of the system that run commands: task-spooler, and xargs, which is as fast as processes can be started."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from bench import tasks
from bench.fresh import NotMeasured
from bench.taskqueue import Client, TaskQueue


class TaskSpooler(TaskQueue):
    """`tsp` once for each task; its server has as many slots as there are workers elsewhere. Output is kept."""

    name = "task-spooler"
    takes_batches = False  # a waiting task is a waiting process

    @contextlib.contextmanager
    def serving(self, home: Path, workers: int) -> Iterator[Client]:
        program = shutil.which("tsp") or shutil.which("ts")
        if program is None:
            raise NotMeasured("there is no program tsp")
        (home / "output").mkdir()
        os.environ.update(TS_SOCKET=str(home / "tsp"), TMPDIR=str(home / "output"), TS_SLOTS=str(workers))
        try:
            yield Spooler(program)
        finally:
            subprocess.run([program, "-K"], check=True)

    def version(self) -> str:
        program = shutil.which("tsp")
        if program is None:
            return "not installed"
        return (
            subprocess.run([program, "-V"], capture_output=True, text=True, check=False).stdout.split(" - ")[0].strip()
        )


class Spooler:
    def __init__(self, program: str) -> None:
        self.program = program

    def submit(self, count: int, task: str = "nothing") -> None:
        """A loop of the shell, as one would write it by hand."""
        loop = f"i=0; while [ $i -lt {count} ]; do {shlex.quote(self.program)} {tasks.NOTHING}; i=$((i+1)); done"
        subprocess.run(["/bin/sh", "-c", loop], stdout=subprocess.DEVNULL, check=True)

    def tell(self, pipe: Path, hold: Path | None = None) -> None:
        command = [self.program, "/bin/sh", "-c", tasks.telling(str(pipe), str(hold or ""))]
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)

    def wait(self) -> None:
        subprocess.run([self.program, "-w"], stdout=subprocess.DEVNULL, check=True)


class Xargs(TaskQueue):
    """No queue: starts a process for each line, keeps nothing, and knows of no failure."""

    name = "xargs -P2"
    is_resident = False
    takes_batches = False

    @contextlib.contextmanager
    def serving(self, home: Path, workers: int) -> Iterator[Client]:
        yield Lines(workers)


class Lines:
    def __init__(self, workers: int) -> None:
        self.workers = workers
        self.lines = 0

    def submit(self, count: int, task: str = "nothing") -> None:
        self.lines += count

    def tell(self, pipe: Path, hold: Path | None = None) -> None:
        raise NotImplementedError("xargs does not wait for tasks")

    def wait(self) -> None:
        command = ["xargs", f"-P{self.workers}", "-n1", tasks.NOTHING]
        subprocess.run(command, input="x\n" * self.lines, text=True, check=True)
        self.lines = 0


SYSTEMS = (TaskSpooler(), Xargs())

"""What a benchmark needs from a system that runs tasks: a subclass of TaskQueue per peer, in bench/peers/."""

from __future__ import annotations

import contextlib
import os
import select
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import Protocol

from bench.system import System

BEGIN_SECONDS = 60


class Client(Protocol):
    """One who submits."""

    def submit(self, count: int, task: str = "nothing") -> None:
        """As many tasks that do nothing ("nothing": the cheapest; "shell": each starts a process), by the system's own
        way for many. Returns when the system has acknowledged all of them."""

    def tell(self, pipe: Path, hold: Path | None = None) -> None:
        """One task that says through a pipe that it has begun."""

    def wait(self) -> None:
        """Until everything submitted has ended well."""


class TaskQueue(System):
    is_resident = True  # there is something that waits for tasks; otherwise only the throughput can be measured
    takes_batches = True  # many tasks can be submitted without running any
    submits_at_once = False  # nothing of a batch begins before all of it is acknowledged
    runs_functions = False  # a task is a call in the worker, not a process
    prefetch = 0  # tasks that a worker keeps waiting for itself while it is busy
    pause = 0.3  # seconds between the tasks of an idle system

    def serving(self, home: Path, workers: int) -> contextlib.AbstractContextManager[Client]:
        """Servers and workers, each worker running one task at a time, for the time of the block."""
        raise NotImplementedError


class Pipes:
    """How a task says that it has begun, the same way for all systems."""

    def __init__(self, home: Path) -> None:
        self.begun, self.hold = home / "begun.pipe", home / "hold.pipe"
        for pipe in (self.begun, self.hold):
            if not pipe.exists():
                os.mkfifo(pipe)
        # Open for both directions: then nobody waits for the other end to be opened.
        self._begun = os.open(self.begun, os.O_RDWR | os.O_NONBLOCK)
        self._hold = os.open(self.hold, os.O_RDWR)

    def next(self) -> tuple[float, list[bytes]]:
        """When the next tasks had begun, and what they said."""
        if not select.select([self._begun], [], [], BEGIN_SECONDS)[0]:
            raise TimeoutError(f"no task began within {BEGIN_SECONDS} s")
        now = perf_counter()
        return now, os.read(self._begun, 65536).split()

    def expect(self, count: int) -> None:
        while count > 0:
            count -= len(self.next()[1])

    def release(self, count: int) -> None:
        os.write(self._hold, b"\n" * count)


@contextlib.contextmanager
def ready(system: TaskQueue, home: Path, workers: int) -> Iterator[tuple[Client, Pipes]]:
    """A system whose workers are all there: as many tasks as workers were seen to be running at the same time."""
    pipes = Pipes(home)
    with system.serving(home, workers) as client:
        if system.is_resident:
            sent = workers * (1 + system.prefetch)
            for _ in range(sent):
                client.tell(pipes.begun, pipes.hold)
            pipes.expect(workers)
            pipes.release(sent)
            pipes.expect(sent - workers)
            client.wait()
        yield client, pipes

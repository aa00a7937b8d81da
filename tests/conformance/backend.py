"""What the suite asks of a queue and of whoever runs its tasks. A new engine is a new subclass of Backend.

All of it goes through the real command line, except for looks at the queue, which the suite takes often and through
`paddock.tasks`. An engine that starts the workers itself overrides `start_worker` and `kill_worker`; what it cannot do
is not among its `capabilities`, and the tests of that are skipped.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Iterable
from typing import Any

from paddock.queue.show.view import Entry, tasks
from paddock.queue.task import Attempt
from paddock.record.layout import Home
from tests.waiting import DEADLINE, until

PAUSE, LOST, REQUEUE, PRIORITY = "pause", "lost worker", "requeue", "priority"
GONE = "gone"
OVER = ("done", "failed", GONE)
QUICK = {"PADDOCK_LEASE_BEAT_SECONDS": "1", "PADDOCK_LEASE_FENCE_SECONDS": "6", "PADDOCK_LEASE_RECLAIM_SECONDS": "10"}


class Backend:
    """One queue, and what works on it."""

    name = ""
    capabilities: frozenset[str] = frozenset({PAUSE, LOST, REQUEUE, PRIORITY})
    patience = DEADLINE  # seconds that a task may take which does nothing

    def __init__(self, program: Any, home: Home) -> None:
        self.program, self.home = program, home
        self.program.environment |= QUICK
        self._workers: list[subprocess.Popen[str]] = []

    @property
    def url(self) -> str:
        """As -Q takes it."""
        raise NotImplementedError

    def close(self) -> None:
        """Nothing that was started for this test may outlive it."""
        for worker in self._workers:
            if worker.poll() is None:
                worker.send_signal(signal.SIGINT)
        for worker in self._workers:
            worker.communicate(timeout=DEADLINE)

    # Tasks

    def submit(self, command: str, *options: str) -> str:
        """The id of a shell command that was submitted, `options` as `paddock submit` has them."""
        return self.submit_all([command], *options)[0]

    def submit_all(self, commands: Iterable[str], *options: str) -> list[str]:
        return [self._one(command, options) for command in commands]

    def _one(self, command: str, options: tuple[str, ...]) -> str:
        found = self.program("submit", "-q", "--no-snapshot", "-Q", self.url, *options, "--", command)
        assert found.code == 0, found.err
        return str(found.out.strip())

    def grid(self, word: str, count: int, command: str) -> list[str]:
        """Many tasks in one call; `{word}` in the command is the number of each."""
        found = self.program(
            *("submit", "-q", "--no-snapshot", "-Q", self.url, "--grid", f"{word}=0..{count - 1}", "--", command)
        )
        assert found.code == 0, found.err
        return list(found.out.split())

    def look(self) -> dict[str, Entry]:
        """One look at the queue."""
        return {entry.id: entry for entry in tasks(self.url, home=self.home)}

    def state(self, task: str) -> str:
        entry = self.look().get(task)
        return entry.state if entry is not None else GONE

    def states(self, ids: Iterable[str]) -> dict[str, str]:
        found = self.look()
        return {task: found[task].state if task in found else GONE for task in ids}

    def attempts(self, task: str) -> tuple[Attempt, ...]:
        """What is noted of each try."""
        entry = self.look()[task]
        assert entry.file is not None, entry.trouble
        return entry.file.attempts

    def output(self, task: str) -> str:
        """What all of its attempts have printed."""
        directory = self.home.run(task).path / "output"
        paths = sorted(directory.glob("*.log"), key=lambda path: int(path.stem))
        return "".join(path.read_text(errors="surrogateescape") for path in paths)

    def wait(self, *ids: str, seconds: float | None = None) -> dict[str, str]:
        """Until all are over: done, failed or gone."""

        def over() -> dict[str, str] | None:
            found = self.states(ids)
            return found if all(state in OVER for state in found.values()) else None

        result: dict[str, str] = until(over, seconds or self.patience, pause=0.1)
        return result

    def until(self, condition: Callable[[], Any]) -> Any:
        return until(condition, self.patience, pause=0.05)

    def order(self, verb: str, *words: str, code: int = 0) -> Any:
        """cancel, pause, resume, retry, rerun, priority, as a person gives them."""
        found = self.program(verb, "-Q", self.url, *words)
        assert found.code == code, (found.code, found.out, found.err)
        return found

    # Workers

    def lives(self, pid: str) -> bool:
        """Whether a task's process is still there, by what the task takes for its number."""
        return os.path.exists(f"/proc/{pid}")

    def start_worker(self, *options: str) -> subprocess.Popen[str]:
        """Somebody who runs tasks; engines that do it themselves do nothing here."""
        words = ("worker", "--grace", "2s", *options, self.url)
        # Into a file: nobody reads what it says, and a pipe is full after five hundred tasks.
        with open(self.home.path.parent / "workers.log", "ab") as log:
            worker = self.program.start(*words, stdout=log, stderr=log, start_new_session=True)
        self._workers.append(worker)
        return worker

    def kill_worker(self, worker: subprocess.Popen[str]) -> None:
        """As the kernel does it when memory is short: no word to anybody."""
        os.kill(worker.pid, signal.SIGKILL)
        worker.wait(DEADLINE)

    def stop_worker(self, worker: subprocess.Popen[str]) -> None:
        """As an engine does it before it takes the machine away."""
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(DEADLINE) == 0


class DirectoryBackend(Backend):
    """A directory, and a worker on this machine."""

    name = "directory"

    @property
    def url(self) -> str:
        return "conformance"


class RedisBackend(Backend):
    """A queue of RQ in a real Redis, and a worker of ours on this machine."""

    name = "redis"

    def __init__(self, program: Any, home: Home) -> None:
        super().__init__(program, home)
        from tests.redisserver import RedisServer

        self.server = RedisServer(home.path.parent / "redis")

    @property
    def url(self) -> str:
        return f"{self.server.url}?queue=conformance"

    def close(self) -> None:
        try:
            super().close()
        finally:
            self.server.stop()

"""A directory whose tasks get a job of Slurm's each, on the cluster that PADDOCK_TEST_SLURM (a slurm.conf) names."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Sequence
from typing import Any

from paddock.queue.directory import find_queue
from paddock.queue.show.roster import ALIVE, workers
from paddock.record.layout import Home
from paddock.work.slurm.launcher import comment
from paddock.work.slurm.states import FORMAT, Row, rows
from tests.conformance.backend import LOST, OVER, PAUSE, REQUEUE, Backend
from tests.waiting import DEADLINE, until

_CONF = os.environ.get("PADDOCK_TEST_SLURM", "")  # now: each test has an environment of its own
_TEND_SECONDS = 3.0
_TOLD_SECONDS = 20.0  # who is told again within the three seconds never begins


class SlurmBackend(Backend):
    name = "slurm"
    capabilities = frozenset({PAUSE, LOST, REQUEUE})
    patience = 2 * DEADLINE  # a requeued job that nobody lets begin soon begins by itself after two minutes

    def __init__(self, program: Any, home: Home) -> None:
        super().__init__(program, home)
        self.program.environment["SLURM_CONF"] = _CONF
        self._told: dict[str, float] = {}  # when each job was told to begin soon

    @property
    def url(self) -> str:
        """One task at a time, so that others wait behind it."""
        return "slurm://single"

    def close(self) -> None:
        self.slurm("scancel", *(row.id for row in self.jobs() if row.state.may_run))
        until(lambda: not any(row.state.may_run for row in self.jobs()), pause=0.2)

    def slurm(self, *words: str) -> str:
        if words[0] == "scancel" and len(words) == 1:
            return ""
        return subprocess.run(
            words, env=self.program.environment, capture_output=True, text=True, timeout=DEADLINE
        ).stdout

    def jobs(self) -> list[Row]:
        mine = comment(find_queue(self.url, self.home))
        return [row for row in rows(self.slurm("squeue", "-h", "-r", "-t", "all", "-o", FORMAT)) if row.comment == mine]

    def submit_all(self, commands: Any, *options: str) -> list[str]:
        # What waits for its check waits in its job: it must not have the only one.
        more = ("--engine", "partition=main") if "--chk" in options else ()
        return super().submit_all(commands, *options, *more)

    def grid(self, word: str, count: int, command: str) -> list[str]:
        """As arrays, many at a time."""
        found = self.program(
            *("submit", "-q", "--no-snapshot", "-Q", self.url, "--engine", "partition=main", "--time", "1h"),
            *("--grid", f"{word}=0..{count - 1}", "--", command),
        )
        assert found.code == 0, found.err
        return list(found.out.split())

    def wait(self, *ids: str, seconds: float | None = None) -> dict[str, str]:
        """Somebody looks now and then, as people do: a job that is lost is started again, what is doomed fails."""
        looked = time.monotonic()

        def over() -> dict[str, str] | None:
            nonlocal looked
            if time.monotonic() - looked > _TEND_SECONDS:
                self.tend()
                looked = time.monotonic()
            found = self.states(ids)
            return found if all(state in OVER for state in found.values()) else None

        result: dict[str, str] = until(over, seconds or self.patience, pause=0.1)
        return result

    def tend(self) -> None:
        found = self.program("status", "-Q", self.url)
        assert found.code == 0, found.err

    def start_worker(self, *options: str) -> Any:
        """Slurm does it. A person who looks sees to it, and lets a requeued job begin soon: within the second of its
        end the node takes it for the one that has ended, and revokes it."""
        self.tend()
        now = time.monotonic()
        for row in self.jobs():
            if row.reason == "BeginTime" and now - self._told.get(row.id, -_TOLD_SECONDS) >= _TOLD_SECONDS:
                self.slurm("scontrol", "update", f"JobId={row.id}", "StartTime=now+3")
                self._told[row.id] = now
            elif "held" in row.reason.lower():  # its node was too busy to begin it
                self.slurm("scontrol", "release", row.id)

    def _alive(self) -> Sequence[Any]:
        return [seen for seen in workers(find_queue(self.url, self.home)) if seen.state == ALIVE]

    def alive(self) -> Any:
        """The one worker that is; it may not have said so yet when its task begins to write."""
        (seen,) = self.until(self._alive)
        return seen

    def kill_worker(self, worker: Any) -> None:
        os.kill(self.alive().identity.pid, signal.SIGKILL)

    def stop_worker(self, worker: Any) -> None:
        (job,) = [row for row in self.jobs() if row.word == "RUNNING"]
        self.slurm("scontrol", "requeue", job.id)
        until(lambda: not self._alive(), self.patience, pause=0.1)
        self.until(lambda: any(row.word == "PENDING" for row in self.jobs()))

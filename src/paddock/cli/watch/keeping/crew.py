"""The workers that a watch starts for its evaluations: one for each queue, started again when one dies."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence

from paddock import wire
from paddock.cli.watch.plan import Plan
from paddock.errors import PaddockError
from paddock.evaluate.evaluators.evaluator import warm
from paddock.record.layout import Home
from paddock.record.process import start_ticks

_HEALTHY_SECONDS = 60.0  # one that lived so long was no mistake of ours
_MOST_DEATHS = 3  # in a row


class Crew:
    def __init__(self, home: Home, plans: Iterable[Plan], say: Callable[[str], None]) -> None:
        self._home, self._say = home, say
        self._plans: dict[str, list[Plan]] = {}
        for plan in plans:
            if plan.workers:
                self._plans.setdefault(plan.queue.address, []).append(plan)
        self._workers: dict[str, subprocess.Popen[bytes]] = {}
        self._started: dict[str, float] = {}
        self._deaths = dict.fromkeys(self._plans, 0)

    @property
    def slots(self) -> int:
        return sum(max(plan.workers for plan in plans) for plans in self._plans.values())

    def start(self) -> list[tuple[int, str]]:
        """Whoever is not there; their pids and start times."""
        begun = []
        for queue, plans in self._plans.items():
            if queue not in self._workers:
                # In a session of its own: Ctrl-C is for us, and we tell the worker.
                process = subprocess.Popen(
                    _command(self._home, queue, plans),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    start_new_session=True,
                )
                self._workers[queue], self._started[queue] = process, time.monotonic()
                begun.append((process.pid, start_ticks(process.pid)))
        return begun

    def bury(self) -> bool:
        """Whether one has died and is to be started again."""
        dead = [queue for queue, process in self._workers.items() if process.poll() is not None]
        for queue in dead:
            code = self._workers.pop(queue).returncode
            healthy = time.monotonic() - self._started[queue] >= _HEALTHY_SECONDS
            self._deaths[queue] = 1 if healthy else self._deaths[queue] + 1
            if self._deaths[queue] >= _MOST_DEATHS:
                raise PaddockError(
                    f"The worker of the evaluations in {queue} ends again and again (exit code {code}).",
                    hint=f"`paddock worker {shlex.quote(queue)}` says why. What waits there stays there.",
                )
            self._say(f"the worker of {queue} has ended (exit code {code}) and is started again")
        return bool(dead)

    def end(self, *, at_once: bool = False) -> None:
        """They give back what runs; a second call does not let it end first."""
        for process in self._workers.values():
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
                if at_once:
                    process.send_signal(signal.SIGINT)

    def wait(self) -> None:
        for process in self._workers.values():
            process.wait()


def _command(home: Home, queue: str, plans: Sequence[Plan]) -> list[str]:
    slots = max(plan.workers for plan in plans)
    command = [sys.executable, "-m", "paddock", "worker", queue, "--slots", str(slots)]
    for plan in plans:
        for evaluator in () if plan.options.isolate else plan.options.evaluators:
            command += ["--warm", wire.dumps({"command": warm(evaluator), "gpus": plan.options.gpus}).decode()]
    # Should we be killed, it gives back what it evaluates and ends, too.
    return [*command, "--parent", str(os.getpid()), "--home", str(home.path), "-q"]

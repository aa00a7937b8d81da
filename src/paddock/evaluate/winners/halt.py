"""Asking a trainer to stop because its metric has stopped getting better."""

from __future__ import annotations

import os
from collections.abc import Callable
from hashlib import blake2b

from paddock import files
from paddock.evaluate.ledger.book import Ledger
from paddock.evaluate.policy.rules import Rules, number_of
from paddock.evaluate.policy.trainer import Process, Trainings, leave_file, processes, send
from paddock.evaluate.training.run import is_made
from paddock.evaluate.winners.stall import Stall
from paddock.model import RUNNING
from paddock.record import stop
from paddock.record.layout import Home


class Halt:
    """Once for each checkpoint that was not better: a trainer that went on all the same is asked again by the next."""

    def __init__(
        self, home: Home, ledger: Ledger, rules: Rules, trainings: Trainings, say: Callable[[str], None]
    ) -> None:
        self._home, self._rules, self._trainings, self._say = home, rules, trainings, say
        self._asked = ledger.path / "stops"

    def ask(self, series: str, run: str, stall: Stall, metric: str) -> None:
        done = self._asked / stall.last.at.key
        if done.exists():
            return
        why = (
            f"{metric} was not better than {stall.best.value:.6g} ({_place(stall)}) in {stall.evaluations} evaluations"
        )
        recorded = bool(run) and not is_made(run)
        row = self._trainings.row(run) if recorded else None
        self._asked.mkdir(exist_ok=True)
        if row is None or row.state == RUNNING:
            self._say(f"{series}: {why}; the trainer is asked to stop")
            for problem in self._carry_out(series, run if row is not None else "", why):
                self._say(f"{series}: {problem}")
        files.write_once(done, why.encode("utf-8", "replace") + b"\n")

    def _carry_out(self, series: str, run: str, why: str) -> list[str]:
        found = []
        if self._rules.stop_file:
            found.append(leave_file(os.path.join(series, os.path.expanduser(self._rules.stop_file)), why))
        if run:
            there = processes(self._home, run)
            found.append(self._ask_in_run(run, max((process.attempt for process in there), default=1), why))
            if self._rules.stop_signal:
                found += [self._signal(process) for process in there]
        elif self._rules.stop_signal:
            found.append("it is not recorded which process trains, so it gets no signal")
        return [problem for problem in found if problem]

    def _ask_in_run(self, run: str, attempt: int, why: str) -> str:
        try:
            stop.ask(self._home.run(run), attempt, why)
        except OSError as error:
            return f"should_stop() will not hear of it, for its run cannot be written ({error.strerror})"
        return ""

    def _signal(self, process: Process) -> str:
        """Once for each process: a second signal may end one that is about to stop in good order."""
        name = f"{process.host}-{process.boot}-{process.pid}-{process.start}"
        claim = self._asked / blake2b(name.encode(), digest_size=12).hexdigest()
        if not files.write_once(claim, name.encode() + b"\n"):
            return ""
        problem = send(process, number_of(self._rules.stop_signal))
        return f"process {process.pid} was not signalled: {problem}" if problem else ""


def _place(stall: Stall) -> str:
    return f"step {stall.best.at.step}" if stall.best.at.step is not None else os.path.basename(stall.best.at.path)

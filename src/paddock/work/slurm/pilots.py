"""Workers as Slurm jobs: each takes tasks from a queue until nothing is left, or its time is nearly over."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from hashlib import blake2b

from paddock.errors import Refused
from paddock.queue.engine import Engine
from paddock.queue.task import Task
from paddock.record.layout import Home
from paddock.work.launcher import Pilot
from paddock.work.slurm import commands, script, states
from paddock.work.slurm.launcher import last_line

DIRECTORY = "pilots"  # in the home: what they print
NAME = "paddock-pilot"
_FAILED = ("FAILED", "BOOT_FAIL", "OUT_OF_MEMORY")  # a worker whose time is over, or that is cancelled, is none of them


class SlurmFleet:
    def __init__(self, engine: Engine, home: Home, queue: str, each: Task, slots: int = 1) -> None:
        """`queue` as a worker takes it; `each`: what a pilot needs, as if it were a task."""
        self._engine, self._home, self._queue, self._slots = engine, home, queue, slots
        self._needs = script.needs(each, engine.place, dict(engine.options))
        mark = os.fsencode(f"{os.path.realpath(home.path)}\0{queue}")
        self._comment = f"paddock-pilots:{blake2b(mark, digest_size=8).hexdigest()}"

    def look(self) -> Sequence[Pilot]:
        rows = [row for row in commands.jobs(os.getuid()) if row.comment == self._comment]
        rows.sort(key=lambda row: tuple(map(int, row.id.split("_"))))
        return [self._pilot(row) for row in rows]

    def _pilot(self, row: states.Row) -> Pilot:
        if row.word not in _FAILED:
            return Pilot(row.id, row.state, row.about)
        log = self._home.path / DIRECTORY / script.OUTPUT / f"{NAME}-{row.id}.log"
        return Pilot(row.id, row.state, f"{row.about}: {last_line(log)}", failed=True)

    def start(self, count: int, *, lasting: bool) -> None:
        directory = self._home.path / DIRECTORY
        (directory / script.OUTPUT).mkdir(parents=True, exist_ok=True)
        given = script.arguments(self._needs, NAME, str(directory), self._comment, count, requeue=False)
        call = [self._needs.python or sys.executable, "-m", "paddock", "worker", "--home", str(self._home.path)]
        if not lasting:
            call.append("--no-persist")
        if self._slots > 1:
            call += ["--slots", str(self._slots)]
        call += [word for word in self._needs.room if not word.startswith("--slots")]
        try:
            commands.submit(given, script.pilot([*call, self._queue], str(directory), self._needs, NAME, count))
        except Refused as error:
            raise type(error)(script.advice(error.message)) from None

    def end(self, pilots: Sequence[Pilot]) -> None:
        commands.cancel([pilot.id for pilot in pilots if pilot.state.may_run])

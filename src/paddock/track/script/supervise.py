"""Run a command, wait for it, and write down how it ended: exit code, signal, out of memory.

The process itself cannot record a SIGKILL. Its parent can, and is told exactly.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import FrameType

from paddock.errors import RunExists, RunNotFound
from paddock.record.journal import Journal, writer_name
from paddock.record.layout import Home, RunDirectory
from paddock.record.process import boot_id, oom_kills, start_ticks
from paddock.record.scan import header, journal_files
from paddock.track.identity import ATTEMPT, RUN_HOME, RUN_ID, RUN_OWNER, next_attempt


def begin(home: Home, run_id: str, resume: str | None) -> tuple[RunDirectory, int]:
    """The directory the run will have, and the number of this attempt."""
    directory = home.run(run_id)
    headers = [header(file.path, file.packed) for file in journal_files(directory.journals)]
    existed = bool(headers) or directory.facts.exists()
    if existed and resume in (None, "never"):
        raise RunExists(
            f"There is a run {run_id!r} already, in {directory.path}.",
            hint="Pass --resume allow to continue it, or another --id.",
        )
    if not existed and resume == "must":
        raise RunNotFound(
            f"There is no run {run_id!r} to continue in {home.path}.", hint="`paddock ls` lists the runs."
        )
    return directory, next_attempt(headers, None)


def task_run(environ: Mapping[str, str]) -> tuple[Home, RunDirectory, int] | None:
    """The run and the attempt of the task that this process was started as, unless another run began in between."""
    task, home, attempt = (environ.get(name, "") for name in (RUN_ID, RUN_HOME, ATTEMPT))
    if not (task and home and attempt.isdigit() and environ.get("PADDOCK_TASK_TOKEN")) or environ.get(RUN_OWNER):
        return None
    return Home(Path(home)), Home(Path(home)).run(task), int(attempt)


def supervise(
    command: Sequence[str],
    environ: dict[str, str],
    directory: RunDirectory,
    attempt: int,
    stdout: int | None = None,
    *,
    record: bool = True,
) -> int:
    """The command's exit code, 128 + N when signal N ended it. Without `record` somebody else writes that down."""
    kills_before = oom_kills()
    child = subprocess.Popen(list(command), env=environ, stdout=stdout)

    def forward(number: int, frame: FrameType | None) -> None:
        child.send_signal(number)

    # Ctrl-C reaches the child from the terminal itself; here it must only not end the wait.
    before = {signal.SIGINT: signal.signal(signal.SIGINT, signal.SIG_IGN)}
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2):
        before[number] = signal.signal(number, forward)
    try:
        code = child.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if record and directory.journals.is_dir():  # the child got as far as making the run
        killed = oom_kills() > kills_before >= 0 and code == -signal.SIGKILL
        _record(directory, attempt, code, killed)
    return code if code >= 0 else 128 - code


def _record(directory: RunDirectory, attempt: int, code: int, oom: bool) -> None:
    writer = writer_name()
    journal = Journal(
        directory.journals / f"{writer}.jsonl",
        {
            "run": directory.id,
            "writer": writer,
            "role": "supervisor",
            "host": os.uname().nodename,
            "pid": os.getpid(),
            "start": start_ticks(os.getpid()),
            "boot": boot_id(),
            "attempt": attempt,
        },
    )
    name = signal.Signals(-code).name.removeprefix("SIG") if code < 0 else None
    journal.append_now(
        {"k": "exit", "attempt": attempt, "code": code if code >= 0 else None, "signal": name, "oom": oom}
    )
    journal.append_now({"k": "end", "code": 0, "reason": "finished"})
    journal.close()

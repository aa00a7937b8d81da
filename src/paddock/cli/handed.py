"""A task that was handed over as a file, run as a pod does it; in the end it is said what became of it.

What `paddock task FILE` does, without click and the verbs: the task waits for all that is imported here.
"""

from __future__ import annotations

import gc

gc.disable()  # imports make no garbage, and looking for it takes a tenth of their time

import os  # noqa: E402
import sys  # noqa: E402
import threading  # noqa: E402
import time  # noqa: E402
from collections.abc import Sequence  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import NoReturn  # noqa: E402

from paddock import files, settings, wire  # noqa: E402
from paddock.cli import workplace  # noqa: E402
from paddock.errors import PaddockError, TaskFailed, UsageError  # noqa: E402
from paddock.queue.lifecycle import DONE, FAILED  # noqa: E402
from paddock.queue.task import Attempt, read  # noqa: E402
from paddock.record.layout import RunDirectory, find_home  # noqa: E402
from paddock.work import lone  # noqa: E402
from paddock.work.options import Options  # noqa: E402
from paddock.work.slots import from_options  # noqa: E402

RESULT = "PADDOCK_RESULT"  # the file that the result goes into
_RESULT_BYTES = 4000  # Kubernetes keeps 4,096
_LOOK_SECONDS = 0.1
_CODES = {DONE: 0, "gone": 0, FAILED: TaskFailed.exit_code}  # else it was given back


def run(file: Path, place: str | None, tell: workplace.Tell) -> str:
    """Its state afterwards: done, failed, queued when it was given back, gone when it was cancelled."""
    gc.enable()
    try:
        data = files.read_from(file, 0)
    except OSError as error:
        raise UsageError(f"{file} cannot be read ({error.strerror}).", hint="It is the file of a task.") from None
    given = settings.load(home=place)
    home = find_home(given.home)
    home.prepare()
    found = read(data, file.name)
    devices = ",".join(map(str, range(found.task.gpus))) or None
    options = Options(
        from_options(devices, 1, os.environ, max(found.task.cpus, workplace.all_cores()), workplace.all_memory()),
        liveness=workplace.liveness(given),
        usage=given.worker_usage_seconds,
        fetch=workplace.code_road(given, home),
    )
    ferry = workplace.ferry(home, given, tell)
    echo = Echo(home.run(file.name))
    over = lone.run(
        data,
        file.name,
        home,
        options,
        workplace.cache(given, home),
        tell,
        lambda worker: setattr(worker.settling, "ended", ferry.take) if ferry is not None else None,
    )
    echo.close()
    if ferry is not None:
        ferry.close(given.ship_seconds)
    _leave_result(over.state, over.file(file.name).attempts[len(found.attempts) :])
    return over.state


def code(state: str) -> int:
    return _CODES.get(state, os.EX_TEMPFAIL)


def main(words: Sequence[str]) -> NoReturn:
    """FILE alone, as engines call it."""
    try:
        result = code(run(Path(words[0]), None, _tell))
    except (PaddockError, OSError) as error:
        _tell([str(error)])
        result = error.exit_code if isinstance(error, PaddockError) else 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(result)  # all is closed; to take an interpreter apart takes a tenth of its life here


def _tell(texts: Sequence[str]) -> None:
    now = time.strftime("%H:%M:%S")
    try:
        sys.stderr.write("".join(f"{now} {text}\n" for text in texts))
        sys.stderr.flush()
    except (OSError, ValueError):  # nobody listens: that must not end the task
        pass


def _leave_result(state: str, attempts: Sequence[Attempt]) -> None:
    """For who started us. When it is too much, the tails are shortened first."""
    path = os.environ.get(RESULT)
    if not path:
        return
    for room in (1500, 400, 100, 0):
        kept = [
            {
                key: value
                for key in Attempt.__struct_fields__
                if (value := getattr(one, key)[-room:] if key == "tail" and room else getattr(one, key))
                and key != "output"
                and (room or key != "tail")
            }
            for one in attempts
        ]
        data = wire.dumps(wire.plain({"state": state, "attempts": kept}).value)
        if len(data) <= _RESULT_BYTES:
            break
    try:
        Path(path).write_bytes(data)
    except OSError as error:
        sys.stderr.write(f"The result cannot be left in {path} ({error.strerror}).\n")


class Echo:
    """What the task prints goes into its run; a copy of it goes to stdout, where an engine's logs come from."""

    def __init__(self, run: RunDirectory) -> None:
        self._directory = run.path / "output"
        self._at: dict[str, int] = {}
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="paddock-echo", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        while True:
            over = self._over.is_set()
            self._copy()
            if over:
                return
            self._over.wait(_LOOK_SECONDS)

    def _copy(self) -> None:
        try:
            names = sorted(name for name in os.listdir(self._directory) if name.endswith(".log"))
        except OSError:
            return
        for name in names:
            while data := self._more(name):
                sys.stdout.buffer.write(data)
                sys.stdout.buffer.flush()

    def _more(self, name: str) -> bytes:
        try:
            data = files.read_from(self._directory / name, self._at.get(name, 0), 1 << 20)
        except OSError:
            return b""
        self._at[name] = self._at.get(name, 0) + len(data)
        return data

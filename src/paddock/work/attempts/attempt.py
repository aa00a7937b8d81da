"""One attempt of a task as its run records it: run.json, a supervisor's journal, the output file, how it ended."""

from __future__ import annotations

import contextlib
import math
import os
import shlex
import signal
import socket
import time
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path

import msgspec

from paddock import files, wire
from paddock.queue.ensemble.inherited import without_rank
from paddock.queue.entry.facts import own_facts
from paddock.queue.lifecycle import Place
from paddock.queue.task import Attempt, Task, TaskFile
from paddock.record.journal import Journal, writer_name
from paddock.record.layout import Home, RunDirectory, check_id
from paddock.record.process import boot_id, oom_kills, start_ticks
from paddock.version import __version__
from paddock.work.attempts.codetree import work_directory
from paddock.work.notices import notify

TAIL_BYTES, TAIL_LINES = 8192, 20
ARGUMENT_BYTES = 1 << 17  # of one argument, with the zero at its end: the kernel takes no more


class Running(msgspec.Struct):
    """A task that this worker runs right now."""

    place: Place
    file: TaskFile
    key: str
    number: int
    root: str  # the run's directory
    journal: Journal
    output: str  # where that goes
    gpus: tuple[str, ...]
    directory: str  # where its command starts
    facts: int = -1  # descriptor of a run.json that the disk has not been asked to keep yet
    started: float = msgspec.field(default_factory=time.time)
    oom_before: int = msgspec.field(default_factory=lambda: _oom_kills_lately())
    stopped: bool = False
    misses: int = 0  # clean listings without its file
    missed: float = 0.0  # when the last of them was
    order: str = ""  # why we are killing it: cancelled, moved, requeued, fenced
    beats: int = 0

    @property
    def task(self) -> Task:
        return self.file.task

    @property
    def run(self) -> RunDirectory:
        return RunDirectory(Path(self.root))


def begin(
    home: Home, place: Place, file: TaskFile, worker: str, gpus: tuple[str, ...], trees: Path
) -> tuple[Running, int]:
    """Make the run's directory, unless an earlier attempt did, and what this attempt writes to: its journal, and its
    output, which comes back as a descriptor. Whatever is missing for that is found out before the journal says that
    there was an attempt."""
    task, number = file.task, len(file.attempts) + 1
    root = f"{home.path}/runs/{check_id(task.id)}"  # as a text: a short task would spend its time on Path objects
    facts = _write_facts(root, task, new=_make_directories(root))
    output = -1
    try:
        directory = work_directory(task, home, root, trees)
        log = f"{root}/output/{number}.log"
        output = os.open(log, os.O_CREAT | os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC, 0o644)
        name = writer_name()
        header = {**_worker_facts(), "run": task.id, "writer": name, "attempt": number, "user": task.user}
        journal = Journal(f"{root}/journal/{name}.jsonl", {**header, "worker": worker})
    except BaseException:
        for descriptor in (facts, output):
            if descriptor >= 0:
                os.close(descriptor)
        raise
    key = f"{task.id}~{place.token}"
    return Running(place, file, key, number, root, journal, log, gpus, directory, facts), output


@cache
def _worker_facts() -> dict[str, object]:
    """What every journal of this process says of it."""
    return {
        "role": "supervisor",
        "host": socket.gethostname(),
        "pid": os.getpid(),
        "start": start_ticks(os.getpid()),
        "boot": boot_id(),
        "rank": None,
        "world": None,
        "paddock": __version__,
        "oom": -1,
    }


def _make_directories(root: str) -> bool:
    """True when there was no directory of the run."""
    try:
        os.mkdir(root)
        new = True
    except FileExistsError:
        new = False
    except FileNotFoundError:
        os.makedirs(root, exist_ok=True)
        new = False
    for directory in (f"{root}/journal", f"{root}/output"):
        try:
            os.mkdir(directory)
        except FileExistsError:
            pass
    return new


def _write_facts(root: str, task: Task, *, new: bool) -> int:
    """run.json, whole or not there; the descriptor when it has still to be brought to the disk. Nothing is lost when
    the power fails before that: the next attempt writes it again from the task's file."""
    path = f"{root}/run.json"
    if not new:
        try:
            if os.stat(path).st_size:
                return -1
            os.unlink(path)  # the power failed
        except FileNotFoundError:
            pass
    facts = {
        key: value if type(value) is str and value.isascii() else _plain(value)  # as most are
        for key, value in own_facts(task).items()
    }
    data = wire.dumps(facts | _captured(task))
    if not new:
        files.write_once(Path(path), data)
        return -1
    aside = f"{root}/.run.json.tmp"
    descriptor = os.open(aside, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o644)
    try:
        files.write_all(descriptor, data)
        os.rename(aside, path)
    except BaseException:
        os.close(descriptor)
        with contextlib.suppress(OSError):
            os.unlink(aside)
        raise
    return descriptor


def _plain(value: object) -> object:
    """Most values need no look: this is done for every task."""
    return value if _is_simple(value) else wire.plain(value).value


_captured_last: tuple[dict[str, object], dict[str, object]] = {}, {}


def _captured(task: Task) -> dict[str, object]:
    """What was captured at submit, as JSON can hold it. Tasks that were submitted together have the very same."""
    global _captured_last
    if task.facts is not _captured_last[0]:
        _captured_last = task.facts, {key: wire.plain(value).value for key, value in task.facts.items()}
    return _captured_last[1]


def _is_simple(value: object) -> bool:
    if type(value) is str:
        return value.isascii()
    if type(value) is float:
        return math.isfinite(value)
    if type(value) is int:
        return abs(value) < 1 << 53
    if type(value) is dict:  # a dollar may need to be escaped
        return all(_is_ascii(key) and _is_ascii(item) and "$" not in key for key, item in value.items())
    if type(value) is list:
        return all(map(_is_ascii, value))
    return value is None


def _is_ascii(value: object) -> bool:
    return type(value) is str and value.isascii()


_oom_kills_seen = (-1e9, -1)


def _oom_kills_lately() -> int:
    """Up to a second old: it is a long file to read for every short task."""
    global _oom_kills_seen
    now = time.monotonic()
    if now - _oom_kills_seen[0] > 1.0:
        _oom_kills_seen = now, oom_kills()
    return _oom_kills_seen[1]


def environment(task: Task, number: int, home: Home, visible: str | None) -> dict[str, str]:
    """What the task gets beside the worker's own environment: its own, and what tells the script which run it is."""
    environ = dict(task.env)
    environ |= {
        "PADDOCK_RUN_ID": task.id,
        "PADDOCK_RUN_HOME": str(home.path),
        "PADDOCK_ATTEMPT": str(number),
        "PADDOCK_CAPTURE_OUTPUT": "false",  # it goes to the run's output as it is
    }
    if task.code:
        environ["PADDOCK_CAPTURE_CODE"] = "false"  # the run has the code of its submission; here are links to it
    if visible is not None:
        environ["CUDA_VISIBLE_DEVICES"] = visible
    return environ


def worker_environment() -> dict[str, str]:
    """What every task gets. Of a run that the worker itself may be a part of, they are none."""
    hidden = ("PADDOCK_RUN_", notify.PREFIX)
    found = {key: value for key, value in without_rank(os.environ).items() if not key.startswith(hidden)}
    return {"PYTHONUNBUFFERED": "1", **found}  # what it prints is to be seen at once


def argv(command: str, directory: str, root: str) -> list[str]:
    """The shell changes the directory itself: one that hangs or is gone concerns the task alone. A command that is too
    long for an argument is given as a file of the run, in `root`; so is one that names its interpreter, as a script
    does."""
    if command.startswith("#!"):
        path = f"{root}/command.sh"
        files.replace(Path(path), os.fsencode(command) + b"\n")
        interpreter = command.partition("\n")[0][2:].strip() or "/bin/sh"
        return ["/bin/sh", "-c", f"cd {shlex.quote(directory)} || exit 127\nexec {interpreter} {shlex.quote(path)}"]
    script = f"cd {shlex.quote(directory)} || exit 127\n{command}"
    if len(script) < ARGUMENT_BYTES // 4 or len(data := os.fsencode(script)) < ARGUMENT_BYTES:
        return ["/bin/sh", "-c", script]
    path = f"{root}/command.sh"
    files.replace(Path(path), data + b"\n")
    return ["/bin/sh", path]


def outcome(running: Running, status: int, how: str) -> tuple[str, str]:
    """(what became of it, how it exited), in words."""
    text = exit_text(status, how, running.oom_before)
    if running.order and not (running.order == "requeued" and how == "itself"):  # it was over before it heard of it
        return running.order, text
    if running.order == "requeued" and status and (os.WIFSIGNALED(status) or is_one_of_many()):
        return running.order, text  # who asked the worker to leave has asked its task too
    if how in ("timed out", "fenced"):
        return how, text
    return ("done" if status == 0 else "failed"), text


def is_one_of_many() -> bool:
    """Whether we are in a job of Slurm's, which ends all processes of a job at the same moment."""
    return "SLURM_JOB_ID" in os.environ


def exit_text(status: int, how: str, oom_before: int) -> str:
    if os.WIFSIGNALED(status):
        name = signal.Signals(os.WTERMSIG(status)).name.removeprefix("SIG")
        killed = name == "KILL" and how == "itself" and oom_kills() > oom_before >= 0
        return "out of memory" if killed else f"signal {name}"
    return f"exit code {os.WEXITSTATUS(status)}"


def attempt_note(running: Running, worker: str, result: str, exit: str, seconds: float, peak: int) -> Attempt:
    return Attempt(
        number=running.number,
        worker=worker,
        host=str(_worker_facts()["host"]),
        started=_moment(running.started),
        ended=_moment(time.time()),
        outcome=result,
        exit=exit,
        seconds=round(seconds, 3),
        peak_memory=peak,
        output=running.output,
        tail=tail(running.output),
    )


def finish(
    running: Running, status: int | None, exit: str, result: str = "failed", usage: Mapping[str, float] | None = None
) -> None:
    """The supervisor's last words in the run's journal, which is still to be closed; `why` when it did not end by
    itself."""
    code = os.waitstatus_to_exitcode(status) if status is not None else None
    name = signal.Signals(-code).name.removeprefix("SIG") if code is not None and code < 0 else None
    now = round(time.time(), 6)
    last = {
        "k": "exit",
        "t": now,
        "attempt": running.number,
        "code": code if code is not None and code >= 0 else None,
        "signal": name,
        "oom": exit == "out of memory",
        **(usage or {}),
        **({} if result in ("done", "failed") else {"why": result}),
    }
    running.journal.append(last, {"k": "end", "t": now, "code": 0, "reason": "finished"})


def tail(path: str) -> str:
    try:
        size = os.stat(path).st_size
        if not size:
            return ""
        text = files.read_from(Path(path), max(0, size - TAIL_BYTES)).decode("utf-8", "replace")
    except OSError:
        return ""
    # A progress bar rewrites its line: only what was seen last of it is kept.
    lines = [line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n")]
    while lines and not lines[-1].strip():
        lines.pop()
    return "\n".join(lines[-TAIL_LINES:])


def _moment(t: float) -> str:
    return _second(int(t))


@lru_cache(8)
def _second(t: int) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(t))

"""A task, and the plain-text file it is kept in.

    paddock-task 1 7f3a9c
    id: 20261115-234727-123456-k3f9
    name: train lr=0.1
    priority: 5
    config: {"lr": 0.1}

    ==== check 7f3a9c
    test -f data/ready
    ==== command 7f3a9c
    python train.py \\
      --lr 0.1
    ==== attempt 7f3a9c
    number: 1
    ...

People may edit all of it. The word after the version (the fence) is chosen so that no line of the task is a marker by
accident: a command may contain `====` or `---` lines, or a whole task file. Header values are plain text, or JSON.
"""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Callable, Container, Iterator
from functools import lru_cache
from typing import Any

import msgspec

from paddock import wire
from paddock.amounts import bytes_in, seconds_in
from paddock.errors import Damaged
from paddock.queue.slips import refuse_slips

MAGIC = "paddock-task"
VERSION = 1
AFTER = ("success", "failure", "any")
_BOM = "\ufeff"  # that some editors on Windows begin a file with
_TITLE = 60  # letters of a name in a log


class Dependency(msgspec.Struct, frozen=True):
    task: str
    when: str = "success"

    def __str__(self) -> str:
        return f"{self.when}:{self.task}"


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody asked for. It does not change when it runs."""

    id: str
    command: str
    name: str = ""
    project: str = ""
    group: str = ""
    tags: tuple[str, ...] = ()
    notes: str = ""
    config: dict[str, Any] = {}
    check: str = ""
    after: tuple[Dependency, ...] = ()
    priority: int = 0
    gpus: int = 0
    cpus: int = 0
    mem: int = 0  # bytes
    workers: int = 1  # ranks that run it together
    timeout: float = 0.0  # seconds; 0 is none
    retries: int = 0
    engine: dict[str, Any] = {}  # what an engine is told of its job besides: {"time": "4h", "image": "..."}
    env: dict[str, str] = {}
    cwd: str = ""
    warm: str = ""  # a command whose process is started ahead, and becomes a task like this one (handover.py)
    code: str = ""  # digest of the code snapshot to run from; "" runs in cwd as it is
    facts: dict[str, Any] = {}  # what was captured at submit: git, host, command line
    submitted: float = 0.0
    user: str = ""
    parent: str = ""

    @property
    def label(self) -> str:
        """For a log: the id, and what a person knows it by."""
        return f"{self.id}  {self.title}"

    @property
    def title(self) -> str:
        """What a person knows it by: its name, else how its command begins, on one short line."""
        title = " ".join((self.name or first_line(self.command)).split())
        return title if len(title) <= _TITLE else title[: _TITLE - 3] + "..."

    @property
    def is_gang(self) -> bool:
        return self.workers > 1


def first_line(command: str) -> str:
    """The first that does something (of a script that is not its `#!`), with those that a backslash joins to it."""
    lines = command.strip().split("\n")
    does = (at for at, line in enumerate(lines) if line.strip() and not line.lstrip().startswith("#"))
    at = next(does, 0)
    parts = [lines[at]]
    while _goes_on(parts[-1]) and (at := at + 1) < len(lines):
        parts[-1] = parts[-1][:-1].rstrip()
        parts.append(lines[at].strip())
    return " ".join(parts)


def _goes_on(line: str) -> bool:
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one try. The file keeps every one."""

    number: int
    worker: str = ""
    host: str = ""
    started: str = ""
    ended: str = ""
    outcome: str = "started"  # started, done, failed, killed, requeued, timed out, lost
    exit: str = ""  # "exit code 3", "signal KILL", "out of memory"
    seconds: float = 0.0
    peak_memory: int = 0
    output: str = ""  # where all of it is
    tail: str = ""  # the last lines of it


class TaskFile(msgspec.Struct, frozen=True):
    """A task with its history, as the file has it."""

    task: Task
    fence: str
    attempts: tuple[Attempt, ...] = ()
    roach: bool = False  # written by roach: no header, `---` and `===` lines

    @property
    def losses(self) -> int:
        """How often in a row it was lost with its worker."""
        count = 0
        for attempt in reversed(self.attempts):
            if attempt.outcome not in ("lost", "started"):
                break
            count += attempt.outcome == "lost"
        return count


_TEXTS = ("id", "name", "project", "group", "notes", "cwd", "warm", "code", "user", "parent")
_HEADER = (
    *("id", "name", "project", "group", "tags", "notes", "config", "after", "priority", "gpus", "cpus", "mem"),
    *("workers", "timeout", "retries", "engine", "env", "cwd", "warm", "code", "facts", "submitted", "user", "parent"),
)
_AMOUNTS: dict[str, Callable[[str], float | None]] = {"timeout": seconds_in, "mem": bytes_in}  # as people write them
_HEADER_DEFAULTS = [(key, None if key == "id" else getattr(Task(id="", command=""), key)) for key in _HEADER]


def new_fence(*texts: str) -> str:
    """A word that no marker-like line of these texts ends with."""
    while True:
        fence = os.urandom(3).hex()
        if not any(fence in text for text in texts):
            return fence


def render(task: Task) -> bytes:
    fence = new_fence(task.command, task.check)
    lines = [f"{MAGIC} {VERSION} {fence}"]
    for key, default in _HEADER_DEFAULTS:
        value = getattr(task, key)
        if value != default:
            lines.append(f"{key}: {_write_value(key, value)}")
    text = "\n".join(lines) + "\n\n"
    if task.check:
        text += f"==== check {fence}\n{task.check}\n"
    text += f"==== command {fence}\n{task.command}\n"
    return text.encode("utf-8", "surrogateescape")


def render_attempt(attempt: Attempt, fence: str) -> bytes:
    """The lines that an attempt adds to the file. Output is indented, so that it can never be a marker."""
    lines = [f"==== attempt {fence}"]
    for key in Attempt.__struct_fields__:
        value = getattr(attempt, key)
        if key != "tail" and (value or key == "number"):
            lines.append(f"{key}: {_write_value(key, value)}")
    text = "\n".join(lines) + "\n"
    text += "".join(f"| {line}\n" for line in attempt.tail.split("\n")) if attempt.tail else ""
    return text.encode("utf-8", "surrogateescape")


def _write_value(key: str, value: Any) -> str:
    if type(value) is int:
        return str(value)
    if type(value) is float and math.isfinite(value):
        return repr(value)
    if isinstance(value, str):
        plain = value and value == value.strip() and value.isprintable() and not value.startswith('"')
        return value if plain else wire.dumps(wire.plain(value).value).decode()
    if key == "facts":
        return _write_facts(value)
    if key == "after":
        value = [str(dependency) for dependency in value]
    return wire.dumps(wire.plain(value).value).decode()


_written: tuple[Any, str] = None, ""


def _write_facts(value: dict[str, Any]) -> str:
    """Tasks that are submitted together have captured the very same."""
    global _written
    if value is not _written[0]:
        _written = value, wire.dumps(wire.plain(value).value).decode()
    return _written[1]


def read(data: bytes, file_name: str) -> TaskFile:
    """The task in a file; Damaged, with a sentence, when it is none."""
    text = data.decode("utf-8", "surrogateescape").removeprefix(_BOM)
    if text.partition("\n")[0].endswith("\r"):
        text = text.replace("\r\n", "\n")  # edited on Windows; what a worker has added since has our line ends
    first = text.partition("\n")[0].split()
    if not first or first[0] != MAGIC:
        return _read_roach(text, file_name)
    if len(first) < 3 or first[1] != str(VERSION):
        raise Damaged(
            f"{file_name} is a task of format {' '.join(first[1:2]) or '?'}, which this Paddock does not read.",
            hint="A newer Paddock wrote it: upgrade.",
        )
    fence = first[2]
    header, sections = _split(text, fence)
    commands = [body for kind, body in sections if kind == "command"]
    if len(commands) != 1:
        raise Damaged(f"{file_name} has {len(commands)} commands.", hint=f"It needs one line `==== command {fence}`.")
    lines = _lines(header, file_name)
    fields = {key: _field(key, value, file_name) for key, value in lines if key in _HEADER}
    if len(fields) < len(lines):
        refuse_slips([key for key, _ in lines], _HEADER, fence, file_name)
    fields["id"] = file_name  # also of a copy that somebody made: two tasks must not be one run
    check = next((body for kind, body in sections if kind == "check"), "")
    captured = fields.pop("facts") if isinstance(fields.get("facts"), dict) else None
    try:
        task = msgspec.convert({**fields, "command": commands[0], "check": check}, Task, strict=False)
        if captured is not None:
            task = msgspec.structs.replace(task, facts=captured)  # not a copy: others have the same
    except msgspec.ValidationError as error:
        raise Damaged(f"The header of {file_name} cannot be read: {error}.", hint="Edit it, or submit anew.") from None
    _refuse_impossible(task, f"a line `==== command {fence}`")
    attempts = tuple(_attempt(body) for kind, body in sections if kind == "attempt")
    return TaskFile(task, fence, attempts)


def _refuse_impossible(task: Task, where: str) -> None:
    """What a person wrote there, or has not written yet: an empty command would be done at once."""
    if not task.command.strip():
        raise Damaged(f"{task.id} has no command yet.", hint=f"It stands below {where}.")
    if task.after and any(dependency.task == task.id for dependency in task.after):
        raise Damaged(f"{task.id} waits for itself.", hint="Edit its line `after:`.")
    if min(task.gpus, task.cpus, task.mem, task.timeout, task.retries, task.workers - 1) < 0:
        least = {"gpus": 0, "cpus": 0, "mem": 0, "timeout": 0, "retries": 0, "workers": 1}
        key = next(key for key, bound in least.items() if getattr(task, key) < bound)
        raise Damaged(f"{task.id}: {key}: {getattr(task, key)} is impossible.", hint=f"It is {least[key]} or more.")


def name_in(head: bytes) -> str:
    """The name alone, from the beginning of a file, where it is the second line or so."""
    if not head.removeprefix(_BOM.encode()).startswith(MAGIC.encode()):
        return ""
    for line in head.decode("utf-8", "surrogateescape").split("\n")[1:]:
        if line.startswith("name:"):
            return _text(line[5:].strip())
        if line.startswith("===="):
            break
    return ""


def without(data: bytes, settled: Container[str]) -> bytes:
    """The file without those dependencies that name one of these tasks; all else as it was."""
    lines = data.split(b"\n")
    for number, line in enumerate(lines):
        if line.startswith(b"===="):
            break
        if line.startswith(b"after:"):
            found = _field("after", line[6:].decode("utf-8", "surrogateescape").strip(), "after")
            kept = tuple(dependency for dependency in found if dependency.task not in settled)
            lines[number : number + 1] = [f"after: {_write_value('after', kept)}".encode()] if kept else []
            break
    return b"\n".join(lines)


def _split(text: str, fence: str) -> tuple[str, list[tuple[str, str]]]:
    """The header, and (kind, body) for each section. A body loses the one line end that precedes the next marker."""
    header: list[str] = []
    sections: list[tuple[str, list[str]]] = []
    for line in text.split("\n")[1:]:
        parts = line.split() if "====" in line else ()
        if len(parts) == 3 and parts[0] == "====" and parts[2] == fence and parts[1] in ("check", "command", "attempt"):
            sections.append((parts[1], []))
        elif sections:
            sections[-1][1].append(line)
        else:
            header.append(line)
    if sections and sections[-1][1] and sections[-1][1][-1] == "":
        sections[-1][1].pop()
    return "\n".join(header), [(kind, "\n".join(lines)) for kind, lines in sections]


def _lines(header: str, file_name: str) -> list[tuple[str, str]]:
    found = []
    for line in header.split("\n"):
        key, colon, value = line.partition(":")
        if line.strip() and not line.lstrip().startswith("#"):
            if not colon:
                raise Damaged(f"{file_name}: the header line {line!r} is no `key: value`.")
            found.append((key.strip(), value.strip()))
    return found


def _field(key: str, text: str, file_name: str) -> Any:
    if key in _TEXTS:
        return _text(text)
    if key in _AMOUNTS and (amount := _AMOUNTS[key](text)) is not None:
        return amount
    try:
        value = _captured(text) if key == "facts" else wire.loads(text)
    except wire.DecodeError:
        raise Damaged(
            f"{file_name}: {key}: {text!r} cannot be read.", hint="It takes JSON, such as 3 or [1, 2]."
        ) from None
    if key == "after":
        return [_dependency(item, file_name) for item in value]
    return value


@lru_cache(4)
def _captured(text: str) -> Any:
    """Tasks that were submitted together have captured the same, and nobody changes it."""
    return wire.loads(text)


def _text(text: str) -> str:
    if text.startswith('"'):
        try:
            value = wire.loads(text)
        except wire.DecodeError:
            return text
        if isinstance(value, str):
            return value
    return text


def _dependency(item: Any, file_name: str) -> Dependency:
    when, colon, task = str(item).partition(":")
    if not colon:
        when, task = "success", when
    if when not in AFTER or not task:
        raise Damaged(f"{file_name}: after: {item!r} is no dependency.", hint="Write success:ID, failure:ID or any:ID.")
    return Dependency(task, when)


def _attempt(body: str) -> Attempt:
    fields: dict[str, Any] = {}
    tail = []
    for line in body.split("\n"):
        if line.startswith("| ") or line == "|":
            tail.append(line[2:])
            continue
        key, colon, value = line.partition(":")
        if colon and key.strip() in Attempt.__struct_fields__:
            fields[key.strip()] = _text(value.strip())
    convert: dict[str, Callable[[Any], Any]] = {"number": int, "seconds": float, "peak_memory": int}
    for key, kind in convert.items():
        try:
            fields[key] = kind(fields.get(key) or 0)
        except ValueError:  # a person wrote something else there
            fields[key] = kind(0)
    return Attempt(**fields, tail="\n".join(tail))


def _roach_attempts(lines: list[str]) -> Iterator[Attempt]:
    """What roach wrote of its tries (a line with the worker, then output), and what we added since."""
    starts = [i for i, line in enumerate(lines) if line.startswith("===")]
    for number, (start, end) in enumerate(itertools.pairwise([*starts, len(lines)]), 1):
        head = lines[start].split()
        if head[:2] == ["====", "attempt"]:
            yield _attempt("\n".join(lines[start + 1 : end]))
        else:
            yield Attempt(number=number, worker=lines[start].strip("= "), outcome="ended")


def _read_roach(text: str, file_name: str) -> TaskFile:
    """roach's file: the check, a line `---`, the command, and after a line `===` the outputs."""
    lines = text.split("\n")
    cut = next((i for i, line in enumerate(lines) if line.startswith("---")), None)
    if cut is None:
        raise Damaged(
            f"{file_name} is no task: it has neither a {MAGIC!r} line nor a `---` line.", hint="Move it away."
        )
    end = next((i for i in range(cut + 1, len(lines)) if lines[i].startswith("===")), len(lines))
    check = "\n".join(lines[:cut]).strip()
    command = "\n".join(lines[cut + 1 : end]).strip("\n")
    attempts = tuple(_roach_attempts(lines[end:]))
    task = Task(id=file_name, command=command, check="" if check == "true" else check)
    _refuse_impossible(task, "the line `---`")
    return TaskFile(task, new_fence(text), attempts, roach=True)

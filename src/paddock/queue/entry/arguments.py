"""What submit() was given, looked at before anything is written: a slip must not become a task that never runs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from paddock.errors import UsageError
from paddock.queue.lifecycle import MOST_PRIORITY

_COUNTS = ("gpus", "cpus", "retries")
_TEXTS = ("name", "project", "group", "notes")


def refuse_wrong(cmd: Any, chk: str, cwd: Any, more: Mapping[str, Any]) -> None:
    """UsageError with a sentence for the first that is wrong."""
    _refuse_wrong_command(cmd)
    _refuse_unwritable("check", chk)
    if cwd and not os.path.isdir(cwd):
        raise UsageError(f"There is no directory {cwd}.", hint="A task runs in the directory that `cwd` names.")
    for key in _TEXTS:
        if key in more and not isinstance(more[key], str):
            raise UsageError(f"{key}={more[key]!r} is no text.")
    for key in _COUNTS:
        if key in more and not (_is_whole(more[key]) and more[key] >= 0):
            raise UsageError(f"{key}={more[key]!r} is no count.", hint="It is a whole number, 0 or more.")
    priority = more.get("priority", 0)
    if not _is_whole(priority) or abs(priority) > MOST_PRIORITY:
        raise UsageError(
            f"priority={priority!r} is no priority.",
            hint=f"It is a whole number from -{MOST_PRIORITY} to {MOST_PRIORITY}.",
        )


def environment(given: Any) -> dict[str, str]:
    if not given:
        return {}
    if not isinstance(given, Mapping):
        raise UsageError(f"env={given!r} is no mapping.", hint='Write env={"NAME": "value"}.')
    for name, value in given.items():
        if value is None:
            raise UsageError(f"env: {name} is None.", hint='Leave it out, or give a text, which may be empty: "".')
    found = {str(name): str(value) for name, value in given.items()}
    for name, value in found.items():
        if not name or "=" in name or "\0" in name:
            raise UsageError(f"{name!r} cannot be the name of an environment variable.")
        if "\0" in value:
            raise UsageError(f"The environment variable {name} contains a zero byte, which no process can have.")
    return found


def tags(given: Any) -> tuple[str, ...]:
    if given is None or isinstance(given, str):
        return (given,) if given else ()
    if not isinstance(given, Iterable):
        raise UsageError(f"tags={given!r} are no tags.", hint='Write tags=["baseline"].')
    return tuple(str(tag) for tag in given)


def config(given: Any) -> dict[str, Any]:
    if not given:
        return {}
    if not isinstance(given, Mapping):
        raise UsageError(f"config={given!r} is no mapping.", hint='Write config={"lr": 0.1}.')
    return dict(given)


def engine(given: Any) -> dict[str, Any]:
    if not given:
        return {}
    if not isinstance(given, Mapping) or not all(isinstance(key, str) for key in given):
        raise UsageError(f"engine={given!r} is no mapping.", hint='Write engine={"time": "4h"}.')
    return {key: value for key, value in given.items() if value not in (None, "")}


def _refuse_wrong_command(cmd: Any) -> None:
    if isinstance(cmd, (list, tuple)) and cmd:
        raise UsageError(f"The command is a {type(cmd).__name__}.", hint="It is a text: submit(shlex.join(words)).")
    if not isinstance(cmd, str) or not cmd.strip():
        raise UsageError("The task has no command.", hint="Give a shell command, as in submit('python train.py').")
    _refuse_unwritable("command", cmd)


def _refuse_unwritable(what: str, text: str) -> None:
    if "\0" in text:
        raise UsageError(f"The {what} contains a zero byte, which no shell can run.")
    if not text.isascii():
        try:
            text.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError as error:
            raise UsageError(f"The {what} contains {text[error.start]!r}, which is half of a character.") from None


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)

"""How the command line fails: one sentence on stderr and a documented exit code, as JSON when --json was asked for."""

from __future__ import annotations

import errno
import os
import sys
import traceback
from typing import Any

import click

from paddock import wire
from paddock.compare.text import clean
from paddock.errors import HomeError, PaddockError, UsageError

INTERRUPTED = 130  # 128 + SIGINT, as shells count
BROKEN_PIPE = 141  # 128 + SIGPIPE
_DISK = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.ESTALE)


def report(error: BaseException, as_json: bool) -> int:
    """Print what went wrong and return the exit code."""
    if isinstance(error, (KeyboardInterrupt, click.Abort)):
        return INTERRUPTED
    if isinstance(error, FileNotFoundError) and error.filename is None and not _is_somewhere():
        error = UsageError("The directory that you are in is no longer there.", hint="`cd` to one that is.")
    if isinstance(error, OSError) and error.errno in _DISK:
        error = _disk_error(error)
    error = _limit(error) or error
    if isinstance(error, PaddockError):
        return _show(error, as_json)
    if isinstance(error, click.ClickException):
        return _show_usage(error, as_json)
    return _show_unexpected(error, as_json)


def _limit(error: BaseException) -> PaddockError | None:
    """What the system allows this user or this process no more of: no fault of ours, and nothing to report."""
    if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
        return PaddockError("No more files may be opened here.", hint="`ulimit -n` says how many; more are needed.")
    if isinstance(error, RuntimeError) and str(error) == "can't start new thread":
        return PaddockError(
            "No more processes or threads may be started here.", hint="`ulimit -u` says how many you may have at once."
        )
    return None


def _is_somewhere() -> bool:
    try:
        os.getcwd()
    except FileNotFoundError:
        return False
    return True


def _show(error: PaddockError, as_json: bool) -> int:
    found: dict[str, Any] = {"type": type(error).__name__, "message": error.message, "hint": error.hint}
    candidates = getattr(error, "candidates", ())
    if candidates:
        found["candidates"] = list(candidates)
    _write(found, error.exit_code, as_json)
    return error.exit_code


def _show_usage(error: click.ClickException, as_json: bool) -> int:
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "paddock"
    found = {"type": "UsageError", "message": error.format_message(), "hint": f"`{command} --help` shows the usage."}
    _write(found, error.exit_code, as_json)
    return error.exit_code


def _show_unexpected(error: BaseException, as_json: bool) -> int:
    debug = os.environ.get("PADDOCK_DEBUG") not in (None, "", "0")
    if debug:
        traceback.print_exception(error)
    found = {
        "type": type(error).__name__,
        "message": f"Paddock failed unexpectedly: {type(error).__name__}: {error}.",
        "hint": "Please report it with the traceback above."
        if debug
        else "Please report it with the traceback that PADDOCK_DEBUG=1 prints.",
    }
    _write(found, 1, as_json)
    return 1


def _disk_error(error: OSError) -> HomeError:
    where = f"{error.filename}: " if error.filename else ""
    return HomeError(
        f"The disk refused ({where}{error.strerror or error}).", hint="`paddock doctor` says what can be written here."
    )


def _write(found: dict[str, Any], code: int, as_json: bool) -> None:
    try:
        if as_json:
            found = {key: _encodable(value) for key, value in found.items()}
            sys.stderr.write(wire.dumps({"error": {**found, "exit_code": code}}).decode() + "\n")
        else:
            sys.stderr.write("paddock: " + "\n".join(map(clean, found["message"].split("\n"))) + "\n")
            for candidate in found.get("candidates", ()):
                sys.stderr.write(f"    {clean(candidate)}\n")
            if found["hint"]:
                sys.stderr.write("\n".join(map(clean, found["hint"].split("\n"))) + "\n")
        sys.stderr.flush()
    except (OSError, ValueError):  # nobody listens to stderr; the exit code still says it
        pass


def _encodable(value: Any) -> Any:
    if isinstance(value, list):
        return [_encodable(item) for item in value]
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value

"""Tags, notes, stars after the fact: each is one record in a journal of its own. Nothing is ever rewritten."""

from __future__ import annotations

import getpass
import os
from typing import Any

from paddock.errors import HomeError, RunNotFound
from paddock.record.journal import Journal, writer_name
from paddock.record.layout import RunDirectory
from paddock.version import __version__


def annotate(directory: RunDirectory, record: dict[str, Any], *, private: bool = False) -> str:
    """Append `record` ({"k": "tag", ...}) to a new journal in the run; returns the writer's name.

    On disk when this returns: a person who tags a run wants no second look whether it was kept. What is `private`
    only its writer can read.
    """
    if not directory.path.is_dir():
        raise RunNotFound(f"There is no run at {directory.path}.")
    writer = writer_name()
    header = {
        "run": directory.id,
        "writer": writer,
        "role": "annotation",
        "host": os.uname().nodename,
        "pid": os.getpid(),
        "rank": None,
        "world": None,
        "attempt": 0,
        "user": _user(),
        "paddock": __version__,
    }
    try:
        directory.journals.mkdir(exist_ok=True)
        journal = Journal(directory.journals / f"{writer}.jsonl", header, mode=0o600 if private else 0o644)
    except OSError as error:
        raise _refused(directory, error.strerror or str(error)) from None
    try:
        journal.append_now(dict(record))
        journal.append_now({"k": "end", "code": 0, "reason": "finished"})  # nobody has to watch this journal any more
        journal.sync()
    finally:
        refusal, waiting = journal.refusal, bool(journal.waiting)
        os.close(journal.fd)
    if refusal or waiting:
        raise _refused(directory, refusal or "it took a part only")
    return writer


def _refused(directory: RunDirectory, why: str) -> HomeError:
    return HomeError(
        f"Nothing was written to {directory.path} ({why}).", hint="Ask the owner of the home for access, or make room."
    )


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container's user without a name
        return str(os.getuid())

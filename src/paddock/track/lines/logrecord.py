"""LogRecord.__init__ of Python 3.11, but it remembers what a file is called.

A third of what a log call costs without us goes to taking the same path apart again for every line. While lines are
kept, this stands in for it, and pays for a part of the keeping: 1.3 us of a call of 10. Records are of the same class
and hold the same. Where Python's own is not the one that is known here, its own stays.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Mapping
from time import time
from types import CodeType
from typing import Any

MOST_FILES = 10_000  # whose names are remembered
KNOWN = (3, 11)

_plain = frozenset({str, int, float, bool, type(None)})  # surely no mapping, and cheaper asked than the abstract class
_files: dict[str, tuple[str, str]] = {}  # path -> the file's name, and that without its ending


def is_known(code: CodeType | None) -> bool:
    """Whether this is the __init__ that `initialise` does the work of."""
    return code is not None and sys.version_info[:2] == KNOWN and code.co_filename == logging.__spec__.origin


def initialise(
    record: Any,
    name: str,
    level: int,
    pathname: str,
    lineno: int,
    msg: Any,
    args: Any,
    exc_info: Any,
    func: str | None = None,
    sinfo: str | None = None,
    **kwargs: Any,
) -> None:
    now = time()
    record.name = name
    record.msg = msg
    if args and len(args) == 1 and type(args[0]) not in _plain and isinstance(args[0], Mapping) and args[0]:
        args = args[0]
    record.args = args
    record.levelname = logging.getLevelName(level)
    record.levelno = level
    record.pathname = pathname
    try:
        record.filename, record.module = _files[pathname]
    except (KeyError, TypeError):
        record.filename, record.module = _taken_apart(pathname)
    record.exc_info = exc_info
    record.exc_text = None
    record.stack_info = sinfo
    record.lineno = lineno
    record.funcName = func
    record.created = now
    record.msecs = int((now - int(now)) * 1000) + 0.0
    record.relativeCreated = (now - logging._startTime) * 1000  # type: ignore[attr-defined]
    if logging.logThreads:
        record.thread = threading.get_ident()
        record.threadName = threading.current_thread().name
    else:
        record.thread = record.threadName = None
    record.processName = _process_name() if logging.logMultiprocessing else None
    record.process = os.getpid() if logging.logProcesses else None


def _process_name() -> str:
    multiprocessing = sys.modules.get("multiprocessing")
    if multiprocessing is not None:
        try:
            return multiprocessing.current_process().name  # type: ignore[no-any-return]
        except Exception:  # it may be half imported
            pass
    return "MainProcess"


def _taken_apart(pathname: Any) -> tuple[Any, str]:
    try:
        filename = os.path.basename(pathname)
        found = filename, os.path.splitext(filename)[0]
    except (TypeError, ValueError, AttributeError):
        return pathname, "Unknown module"
    if type(pathname) is str:
        if len(_files) >= MOST_FILES:
            _files.clear()
        _files[pathname] = found
    return found

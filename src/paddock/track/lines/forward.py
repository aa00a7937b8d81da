"""Exceptions that nobody catches, in the main process, its threads and its children, kept as lines of the run.

The main process's own is the reason of the run's end, too (track/ending.py).
"""

from __future__ import annotations

import os
import sys
import threading
import traceback
from time import time
from types import TracebackType
from typing import Any

from paddock.track import active
from paddock.track.ending import Ending
from paddock.track.lines import logged
from paddock.track.lines.wording import LONGEST_TRACE, clean
from paddock.track.run import Run

LOGGER, CRITICAL = "paddock.exception", 50
_installed = _fork_hook = False
_before: dict[str, Any] = {}


def follow(run: Run) -> None:
    install()
    if remove not in run._before_finish:
        run._before_finish.append(remove)


def install() -> None:
    global _installed, _fork_hook
    if _installed:
        return
    _installed = True
    if not _fork_hook:
        os.register_at_fork(after_in_child=_watch_children)
        _fork_hook = True
    _before.update(main=sys.excepthook, thread=threading.excepthook)
    sys.excepthook = _in_main
    threading.excepthook = _in_thread
    _watch_children()


def remove(ending: Ending | None = None) -> None:
    global _installed
    if not _installed:
        return
    _installed = False
    if sys.excepthook is _in_main:
        sys.excepthook = _before["main"]
    if threading.excepthook is _in_thread:
        threading.excepthook = _before["thread"]
    process = _base_process()
    if process is not None and process._bootstrap is _bootstrap:
        process._bootstrap = _before["child"]


def _watch_children() -> None:
    """multiprocessing catches what its processes raise, prints it and forgets it. Where it is not loaded yet, its
    processes will be forked after it was: then this is done there."""
    process = _base_process() if _installed else None
    if process is not None and process._bootstrap is not _bootstrap:
        _before["child"] = process._bootstrap
        process._bootstrap = _bootstrap


def _base_process() -> Any:
    module = sys.modules.get("multiprocessing.process")
    return module.BaseProcess if module is not None else None


def _bootstrap(process: Any, *args: Any, **kwargs: Any) -> Any:
    """In the child: its run() is what can fail."""
    inner = process.run

    def run() -> Any:
        try:
            return inner()
        except Exception as error:
            if _installed:
                _keep(type(error), error, error.__traceback__, process.name)
            raise

    process.run = run
    return _before["child"](process, *args, **kwargs)


def _in_main(kind: type[BaseException], value: BaseException, trace: TracebackType | None) -> None:
    if _installed and issubclass(kind, Exception):
        _keep(kind, value, trace, "")
    _before["main"](kind, value, trace)


def _in_thread(args: threading.ExceptHookArgs) -> None:
    if _installed and issubclass(args.exc_type, Exception):
        name = args.thread.name if args.thread else "a thread"
        _keep(args.exc_type, args.exc_value, args.exc_traceback, name)
    _before["thread"](args)


def _keep(kind: type[BaseException], value: BaseException | None, trace: TracebackType | None, who: str) -> None:
    try:
        run = active.joined()
        if run is None or run.disabled or run._closed:
            return
        last = traceback.extract_tb(trace)[-1:]
        said: dict[str, Any] = {
            "k": "line",
            "t": round(time(), 6),
            "level": CRITICAL,
            "logger": LOGGER,
            "text": f"{kind.__name__}: {value}" if str(value) else kind.__name__,
            "where": f"{last[0].filename.rpartition('/')[2]}:{last[0].lineno}" if last else "",
            "trace": clean("".join(traceback.format_exception(kind, value, trace)).rstrip("\n"), LONGEST_TRACE),
        }
        logged.write(run, said | ({"thread": who} if who else {}))
    except Exception:  # the exception itself must still be seen
        pass

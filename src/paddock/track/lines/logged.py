"""What the `logging` module is given, kept as lines in the run: `logs/<writer>.jsonl`, one file for each process.

Records are taken where loggers hand them to their handlers, so that no handler has to be added: `logging.basicConfig()`
works as ever, and what the handlers print is printed once. A line is written before the call returns, as in a journal.
"""

from __future__ import annotations

import logging
import os
import threading
import traceback
from time import monotonic
from typing import Any
from zlib import crc32

from paddock import wire
from paddock.record.journal import Journal
from paddock.track import active
from paddock.track.ending import Ending
from paddock.track.lines import logrecord
from paddock.track.lines.wording import LONGEST_TEXT, LONGEST_TRACE, clean, cut, message
from paddock.track.recorder import raised_by_handler
from paddock.track.run import Run

encode, write_bytes = wire.encode, os.write
JOIN = "PADDOCK_RUN_LOGGING"  # in the environment of children: they keep their lines, too, from this level on
MOST_PLACES = 10_000  # calls in the program whose names are remembered
TRY_AGAIN_SECONDS = 5.0  # after the disk refused the file

_hand_over: Any = logging.Logger.callHandlers
_get_message: Any = logging.LogRecord.getMessage
_initialise: Any = logging.LogRecord.__init__
_installed = False
_level_before: int | None = None
_hidden = 0  # below it the handlers of those that take the root's level are given nothing, as before
_places: dict[tuple[Any, ...], bytes] = {}
_busy = threading.local()


class _Lowered(int):
    """The root's level as we have set it: told from the same one that somebody else sets."""


def install(level: int = logging.INFO) -> None:
    """Keep what is logged from here on, and of a root logger that has its usual level what is of this one. What
    handlers are there already print no more than before."""
    global _installed, _level_before, _hidden, _hand_over, _get_message, _initialise
    if _installed:
        return
    _installed = True
    _hand_over, _get_message = logging.Logger.callHandlers, logging.LogRecord.getMessage
    _initialise = logging.LogRecord.__init__
    logging.Logger.callHandlers = _call_handlers  # type: ignore[assignment, method-assign]
    logging.LogRecord.getMessage = message  # type: ignore[assignment, method-assign]
    if logrecord.is_known(getattr(_initialise, "__code__", None)):  # nobody else stands in for it
        logging.LogRecord.__init__ = logrecord.initialise  # type: ignore[assignment, method-assign]
    root = logging.getLogger()
    if root.level == logging.WARNING and (level < root.level or not root.handlers):
        _level_before, _hidden = root.level, root.level if root.handlers else 0
        root.setLevel(_Lowered(level))


def remove(ending: Ending | None = None) -> None:
    global _installed, _level_before, _hidden
    if not _installed:
        return
    _installed = False
    if logging.Logger.callHandlers is _call_handlers:
        logging.Logger.callHandlers = _hand_over  # type: ignore[method-assign]
    if logging.LogRecord.getMessage is message:
        logging.LogRecord.getMessage = _get_message  # type: ignore[method-assign]
    if vars(logging.LogRecord)["__init__"] is logrecord.initialise:
        logging.LogRecord.__init__ = _initialise  # type: ignore[method-assign]
    if _level_before is not None:
        if type(logging.getLogger().level) is _Lowered:
            logging.getLogger().setLevel(_level_before)
        _level_before, _hidden = None, 0


def follow(run: Run, level: int) -> None:
    """From now until the run ends, in this process and in those that it starts."""
    install(level)
    if remove not in run._before_finish:
        run._before_finish.append(remove)
        active.export({JOIN: str(level)})


def _call_handlers(logger: logging.Logger, record: logging.LogRecord) -> None:
    if _installed:
        keep(record)
        if record.levelno < _hidden and _takes_the_roots_level(logger):
            return
    _hand_over(logger, record)


def _takes_the_roots_level(logger: logging.Logger) -> bool:
    """And that is as we have set it."""
    while logger.parent is not None:
        if logger.level:
            return False
        logger = logger.parent
    return type(logger.level) is _Lowered


def keep(record: logging.LogRecord) -> None:
    """Called for every line, so its common case is one straight line: all but the time and the text is known from the
    line before it."""
    run = active.current()
    journal = run._lines if run is not None else None
    if run is None or journal is None:
        run = _here()
        journal = _opened(run) if run is not None else None
        if run is None or journal is None:
            return
    try:
        text = record.getMessage()
        if len(text) > LONGEST_TEXT:
            text = cut(text, LONGEST_TEXT)
        key = (record.name, record.levelno, record.pathname, record.lineno)
        try:
            said = encode(text)
        except ValueError:  # half a character
            said = encode(wire.text(text))
        parts = [b'{"k":"line","t":', encode(record.created), b',"text":', said, _places.get(key) or _place(key)]
        if record.threadName != "MainThread":
            parts += b',"thread":', _text(str(record.threadName))
        if record.exc_info or record.exc_text or record.stack_info:
            parts += b',"trace":', _text(_trace(record))
        body = b"".join(parts)
        line = b'%b,"crc":%d}\n' % (body, crc32(body))
        journal.lock.acquire()  # as Journal.write() does it, without what that costs when all is well
        try:
            if journal.waiting:
                journal.write(line)
                return
            try:
                written = write_bytes(journal.fd, line)
            except OSError as error:
                journal.refused(line, error)
                return
            journal.dirty = True
            if written != len(line):
                journal.torn(line, written)
        finally:
            journal.lock.release()
    except Exception as error:
        if raised_by_handler(error):
            raise
        run._drop("log lines", 1, f"a log line could not be kept ({type(error).__name__})")


def _place(key: tuple[Any, ...]) -> bytes:
    """What the lines of one call in the program have in common."""
    name, level, path, number = key
    said = {"level": level, "logger": wire.text(str(name)), "where": wire.text(f"{os.path.basename(path)}:{number}")}
    found = b"," + wire.encode(said)[1:-1]
    if len(_places) >= MOST_PLACES:
        _places.clear()
    _places[key] = found
    return found


def _text(text: str) -> bytes:
    return encode(wire.text(text))


def write(run: Run, said: dict[str, Any]) -> None:
    """Append a line that did not come from the logging module."""
    journal = run._lines or _opened(run)
    if journal is not None:
        journal.write(wire.record_line({name: _plain(value) for name, value in said.items()}))


def _plain(value: Any) -> Any:
    return value if type(value) in (int, float) else clean(str(value), LONGEST_TRACE)


def _opened(run: Run) -> Journal | None:
    """The file of this process's lines. Where the disk refuses it, it is asked again a little later."""
    with run._lock:
        own = run._own()
        if run._lines is not None:
            return run._lines
        if monotonic() < run._lines_again:
            run._dropped["log lines"] = run._dropped.get("log lines", 0) + 1
            return None
        try:
            run._directory.logs.mkdir(exist_ok=True)
            run._lines = Journal(run._directory.logs / own.path.name, own.header, pending_bytes=own.pending_bytes // 4)
        except OSError as error:
            run._lines_again = monotonic() + TRY_AGAIN_SECONDS
            run._drop("log lines", 1, f"log lines cannot be kept ({error.strerror}); it is tried again")
            return None
        return run._lines


def _here() -> Run | None:
    """The run that lines go to, which a child joins with its first."""
    if getattr(_busy, "joining", False):  # whatever init() calls may log
        return None
    _busy.joining = True
    try:
        run = active.joined()
    finally:
        _busy.joining = False
    return None if run is None or run.disabled or run._closed else run


def _trace(record: logging.LogRecord) -> str:
    text = record.exc_text or ""
    if not text and record.exc_info and record.exc_info[0] is not None:
        text = "".join(traceback.format_exception(*record.exc_info))
    if record.stack_info:
        text = f"{text}\n{record.stack_info}".lstrip("\n")
    return clean(text.rstrip("\n"), LONGEST_TRACE)

"""How the server fails: a status, and one sentence as JSON. Nothing of the inside is shown."""

from __future__ import annotations

import errno
import logging

from paddock import wire
from paddock.errors import (
    Ambiguous,
    Damaged,
    HomeError,
    MissingExtra,
    NotFound,
    PaddockError,
    Refused,
    RunExists,
    TimedOut,
    TooLarge,
    UsageError,
)
from paddock.monitor.http.route import Reply

log = logging.getLogger("paddock.server")
_STATUS: tuple[tuple[type[PaddockError], int], ...] = (
    (TooLarge, 413),
    (UsageError, 400),
    (NotFound, 404),
    (Ambiguous, 409),
    (RunExists, 409),
    (Refused, 409),
    (Damaged, 422),
    (TimedOut, 504),
    (HomeError, 503),
    (MissingExtra, 501),
)
_GONE = (errno.ENOENT, errno.ENOTDIR)


def envelope(message: str, hint: str = "", code: str = "Error") -> bytes:
    said = {"message": wire.text(message), "hint": wire.text(hint), "code": code}
    return wire.dumps({"error": said})


def reply(error: Exception) -> Reply:
    if isinstance(error, PaddockError):
        status = next((status for kind, status in _STATUS if isinstance(error, kind)), 500)
        return Reply(envelope(error.message, error.hint, type(error).__name__), status)
    if isinstance(error, OSError) and error.errno in _GONE:
        return Reply(envelope("It is not there any more.", "", "NotFound"), 404)
    if isinstance(error, OSError):
        log.warning("the disk refused: %s", error)
        said = f"The disk refused ({error.strerror or 'unknown'})."
        return Reply(envelope(said, "`paddock doctor` on the server says what can be read there.", "HomeError"), 503)
    log.error("a request failed unexpectedly", exc_info=error)
    said = f"The server failed unexpectedly ({type(error).__name__})."
    return Reply(envelope(said, "Its own output has the traceback; please report it.", "Unexpected"), 500)

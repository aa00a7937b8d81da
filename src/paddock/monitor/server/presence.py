"""The server of a home: one at a time, found by others through a note in `<home>/server`."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Sequence

import msgspec

from paddock import files, wire
from paddock.errors import HomeError, Refused
from paddock.record.layout import Home


class Note(msgspec.Struct, frozen=True):
    """What a running server says of itself."""

    pid: int
    host: str
    urls: tuple[str, ...]
    instance: str
    token_file: str


class Presence:
    """Held while a server runs. The kernel lets go of it with the process, so a dead server is never in the way."""

    def __init__(self, home: Home) -> None:
        self._home = home
        try:
            home.server.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._lock = os.open(home.server / "lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise HomeError(
                f"The server cannot write to {home.server} ({error.strerror or error}).",
                hint="Serve a home of your own, and add this one with a second --home.",
            ) from None
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._lock)
            raise _taken(home) from None

    def note(self, urls: Sequence[str], instance: str, token_file: str) -> None:
        said = Note(os.getpid(), os.uname().nodename, tuple(urls), instance, token_file)
        path = self._home.server / "serving.json"
        files.replace(path, wire.dumps(said) + b"\n")
        os.chmod(path, 0o600)

    def close(self) -> None:
        with contextlib.suppress(OSError):
            (self._home.server / "serving.json").unlink()
        os.close(self._lock)


def find(home: Home) -> Note | None:
    """The server that runs on this home, if one does and we may know."""
    try:
        lock = os.open(home.server / "lock", os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return None  # nobody holds it
    except OSError:
        return _read(home)
    finally:
        os.close(lock)


def _read(home: Home) -> Note | None:
    try:
        return msgspec.json.decode((home.server / "serving.json").read_bytes(), type=Note)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None


def _taken(home: Home) -> Refused:
    found = _read(home)
    who = f": process {found.pid} on {found.host}, at {', '.join(found.urls)}" if found else ""
    return Refused(
        f"A server runs on {home.path} already{who}.",
        hint="`paddock serve --link` prints a link into it; end it first to start another.",
    )

"""The secret that a server's clients show: a file that only its owner can read, made by the server."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import stat
from pathlib import Path

from paddock.errors import HomeError, UsageError
from paddock.record.layout import Home

VARIABLE, FILE_VARIABLE = "PADDOCK_TOKEN", "PADDOCK_TOKEN_FILE"
_SOUND = re.compile(r"[!-~]{16,512}")  # what a header can carry


def token_file(home: Home) -> Path:
    return home.server / "token"


def find_token(home: Home | None = None) -> str:
    """The token that a client has: PADDOCK_TOKEN, the file that PADDOCK_TOKEN_FILE names, else that of the home;
    empty when there is none."""
    if said := os.environ.get(VARIABLE, "").strip():
        return check(said, VARIABLE)
    if path := os.environ.get(FILE_VARIABLE, ""):
        return read(Path(path))
    if home is None:
        return ""
    try:
        return read(token_file(home))
    except HomeError:
        return ""


def read(path: Path) -> str:
    try:
        return check(path.read_text("ascii").strip(), str(path))
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is no text"
        raise HomeError(f"The token in {path} cannot be read ({why}).", hint="`paddock serve` makes one.") from None


def check(token: str, where: str) -> str:
    if not _SOUND.fullmatch(token):
        raise UsageError(
            f"{where} holds no token.",
            hint="A token is 16 to 512 letters, digits and signs without spaces: the server's is in its "
            "<home>/server/token, which is made anew when it is removed.",
        )
    return token


def ensure(path: Path, given: str = "") -> str:
    """The token in this file, which is made when it is missing (or is the given one), for its owner's eyes only."""
    try:
        if not path.exists():  # one that is there may be where nobody can write: a Secret of Kubernetes
            _make(path, given)
        found = path.stat()
    except OSError as error:
        raise HomeError(
            f"The token cannot be kept in {path} ({error.strerror or error}).", hint="--token-file names another file."
        ) from None
    if is_exposed(found.st_mode, found.st_uid, os.geteuid()):
        raise HomeError(
            f"Others can read the token in {path}.", hint=f"chmod 600 {path}, or remove it to have a new one made."
        )
    return read(path)


def _make(path: Path, given: str) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    aside = path.with_name(f".{path.name}.{secrets.token_hex(6)}.tmp")
    descriptor = os.open(aside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    try:
        os.write(descriptor, (given or secrets.token_urlsafe(32)).encode() + b"\n")
        os.fsync(descriptor)
        with contextlib.suppress(FileExistsError):
            os.link(aside, path)  # of two servers that start at once both use what the first one made
    finally:
        os.close(descriptor)
        os.unlink(aside)


def is_exposed(mode: int, owner: int, user: int) -> bool:
    """What somebody else has put there for us, as Kubernetes does, we read as one of its group; our own is for nobody
    else."""
    ours = stat.S_IRWXU if owner == user else stat.S_IRWXU | stat.S_IRGRP
    return bool(stat.S_IMODE(mode) & ~ours)

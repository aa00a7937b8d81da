"""Where the index lies: on local disk, never on a shared filesystem (WAL does not work over a network)."""

from __future__ import annotations

import os
import stat
import tempfile
from hashlib import blake2b
from pathlib import Path

from paddock.record.filesystem import is_local
from paddock.record.layout import Home


def locate(home: Home, cache: str = "") -> Path | None:
    """The index's file, in a directory that exists and can be written; None when only memory is left."""
    name = blake2b(os.fsencode(os.path.realpath(home.path)), digest_size=12).hexdigest() + ".sqlite"
    wanted = cache_directory(cache)
    if wanted is not None:
        directory = wanted / "catalog"
        if is_local(directory) and _made(directory):
            return directory / name
    private = private_directory()
    return private / name if private is not None else None


def cache_directory(cache: str = "") -> Path | None:
    if cache:
        return Path(os.path.abspath(os.path.expanduser(cache)))
    base = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(base):
        return Path(base) / "paddock"
    try:
        return Path.home() / ".cache" / "paddock"
    except RuntimeError:  # no HOME and no entry in the password file
        return None


def private_directory(parent: Path | None = None) -> Path | None:
    """A directory of this user alone in the temporary one. Others can write there too, so whose it is gets checked:
    a link or somebody else's directory is never used."""
    path = (parent or Path(tempfile.gettempdir())) / f"paddock-{os.getuid()}"
    try:
        path.mkdir(mode=0o700, exist_ok=True)
        found = path.lstat()
    except OSError:
        return None
    safe = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077
    return path if safe and is_local(path) else None


def _made(directory: Path) -> bool:
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(directory, os.W_OK | os.X_OK)

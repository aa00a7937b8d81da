"""`best` beside the checkpoints: a symbolic link to the best of them, put there by one rename."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
from collections.abc import Collection

from paddock import files

NAME = "best"
_ASIDE = re.compile(rf"\.{NAME}\.[0-9a-f]{{8}}")
_TRIES = 5


def point(series: str, path: str, known: Collection[str]) -> str:
    """ "" when it leads to `path` now, else why it does not. Only a link to a checkpoint that is `known` is replaced:
    whatever else is called so is somebody's."""
    link = os.path.join(series, NAME)
    target = os.path.relpath(path, series)
    try:
        if os.path.lexists(link):
            leads = os.readlink(link) if os.path.islink(link) else ""
            if leads == target:
                return ""
            if not leads or os.path.normpath(os.path.join(series, leads)) not in known:
                return f"{link} is somebody else's, so it does not lead to the best one"
        _put(series, link, target)
    except OSError as error:
        return f"{link} cannot be made ({error.strerror})"
    return ""


def sweep(series: str) -> None:
    """Remove what a watcher left that died before the rename: a checkpoint that a link leads to is never deleted."""
    for entry in list(files.entries(series)):
        if _ASIDE.fullmatch(entry.name) and entry.is_symlink():
            with contextlib.suppress(OSError):
                os.unlink(entry.path)


def _put(series: str, link: str, target: str) -> None:
    for left in reversed(range(_TRIES)):
        aside = os.path.join(series, f".{NAME}.{secrets.token_hex(4)}")
        os.symlink(target, aside)
        try:
            os.replace(aside, link)
            return
        except FileNotFoundError:  # another watcher has just begun, and took it for one that was left
            if not left:
                raise

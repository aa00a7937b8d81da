"""`best` beside the checkpoints: a symbolic link to the best of them, put there by one rename."""

from __future__ import annotations

import os
import secrets
from collections.abc import Collection

NAME = "best"


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
        aside = os.path.join(series, f".{NAME}.{secrets.token_hex(4)}")
        os.symlink(target, aside)
        os.replace(aside, link)
    except OSError as error:
        return f"{link} cannot be made ({error.strerror})"
    return ""

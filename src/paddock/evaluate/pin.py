"""Hard links to a checkpoint's files, beside it: no bytes, and its content outlives its name while it is evaluated."""

from __future__ import annotations

import contextlib
import os
import shutil

from paddock.evaluate.look import Look

DIRECTORY = ".paddock-pins"


def pin(look: Look, key: str) -> str:
    """Where the content stays; "" where links cannot be made (a read-only place, a filesystem without them)."""
    base = os.path.join(os.path.dirname(look.path), DIRECTORY, key)
    target = os.path.join(base, look.name)
    aside = f"{base}.{os.getpid()}.tmp"
    try:
        if os.path.isdir(base):
            return target
        os.makedirs(aside, exist_ok=True)
        for name in look.files:
            link = os.path.join(aside, look.name, name) if name else os.path.join(aside, look.name)
            os.makedirs(os.path.dirname(link), exist_ok=True)
            os.link(look.where(name), link, follow_symlinks=True)
        os.rename(aside, base)
    except OSError:
        shutil.rmtree(aside, ignore_errors=True)
        return target if os.path.isdir(base) else ""
    return target


def unpin(path: str) -> None:
    """Remove a pin, and the directory of pins when it was the last."""
    if not path:
        return
    base = os.path.dirname(path)
    if os.path.basename(os.path.dirname(base)) != DIRECTORY:  # never anything else
        return
    shutil.rmtree(base, ignore_errors=True)
    with contextlib.suppress(OSError):
        os.rmdir(os.path.dirname(base))

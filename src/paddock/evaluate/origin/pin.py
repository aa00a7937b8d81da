"""Hard links to a checkpoint's files, beside it: no bytes, and its content outlives its name while it is evaluated.

<directory>/.paddock-pins/<key>/<name>      the links; the key is that of the ledger's entry
"""

from __future__ import annotations

import contextlib
import os
import shutil

from paddock.evaluate.origin.look import PINS, Look

_ASIDE = ".tmp"
_TRIES = 20


def pin(look: Look, key: str) -> str:
    """Where the content stays. OSError where links cannot be made: a read-only place, a filesystem without them."""
    base = os.path.join(os.path.dirname(look.path), PINS, key)
    target = os.path.join(base, look.name)
    for left in reversed(range(_TRIES)):
        if os.path.isdir(base):  # another watcher was faster
            break
        try:
            _link(look, base)
        except OSError as error:
            # The directory of pins may be removed with somebody's last pin just as we come to it.
            again = isinstance(error, FileNotFoundError) and left and os.path.lexists(look.path)
            if not again and not os.path.isdir(base):
                _remove_if_empty(os.path.dirname(base))
                raise
    return target


def _link(look: Look, base: str) -> None:
    aside = f"{base}.{os.getpid()}{_ASIDE}"
    try:
        os.makedirs(aside, exist_ok=True)
        for name in look.files:
            link = os.path.join(aside, look.name, name) if name else os.path.join(aside, look.name)
            os.makedirs(os.path.dirname(link), exist_ok=True)
            # The file itself: a link to it says nothing of its content.
            os.link(os.path.realpath(look.where(name)), link)
        os.rename(aside, base)
    except OSError:
        shutil.rmtree(aside, ignore_errors=True)
        raise


def unpin(path: str) -> None:
    """Remove a pin, and the directory of pins when it was the last."""
    if not path:
        return
    base = os.path.dirname(path)
    if os.path.basename(os.path.dirname(base)) != PINS:  # never anything else
        return
    shutil.rmtree(base, ignore_errors=True)
    _remove_if_empty(os.path.dirname(base))


def pins(directory: str) -> dict[str, str]:
    """Those in a directory: key -> the path that was pinned, and what somebody who died in between has left."""
    found: dict[str, str] = {}
    base = os.path.join(directory, PINS)
    with contextlib.suppress(OSError):
        for key in os.listdir(base):
            with contextlib.suppress(OSError):
                name = next(iter(os.listdir(os.path.join(base, key))), "")
                found[key] = os.path.join(base, key, name or "nothing")
    return found


def is_aside(key: str) -> bool:
    return key.endswith(_ASIDE)


def _remove_if_empty(directory: str) -> None:
    with contextlib.suppress(OSError):
        os.rmdir(directory)

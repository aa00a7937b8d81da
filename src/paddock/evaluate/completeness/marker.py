"""What a trainer says of a checkpoint: it is done, and of which step it is. `paddock.checkpoint_done` puts it there.

    <directory>/.<name>.paddock-done    beside the checkpoint: {"v": 1, "of": "<what it was like>", "step": 500}

It speaks for the checkpoint as it was when it was said: of one that is written over since, an old marker says nothing.
"""

from __future__ import annotations

import contextlib
import os
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

import msgspec

from paddock import files, wire
from paddock.errors import UsageError
from paddock.evaluate.origin.look import Look, look

SUFFIX = ".paddock-done"
_MOST_BYTES = 4096


class Said(NamedTuple):
    step: int | None


def read(here: Look) -> Said | None:
    """What was said of this very content; None when nothing was."""
    raw = None if "://" in here.path else here.read_beside(_name(here.name), _MOST_BYTES)
    if not raw:
        return None
    try:
        found = wire.loads(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
    if not isinstance(found, dict) or found.get("of") != _likeness(here):
        return None
    step = found.get("step")
    return Said(step if isinstance(step, int) and not isinstance(step, bool) else None)


def checkpoint_done(path: str | os.PathLike[str], step: int | None = None) -> bool:
    """Say that a checkpoint is written: it is complete from this moment, whatever its format shows, and need not rest.

    Call it once, when all ranks have written. False when it could not be said (nothing is there, or the directory
    cannot be written): then the format decides, as without it. A training is never ended by it.
    """
    if step is not None and (isinstance(step, bool) or not hasattr(step, "__index__")):
        raise UsageError(f"step={step!r} is no step.", hint="It is a whole number.")
    where = os.path.abspath(os.path.expanduser(os.fspath(path)))
    here = look(where)
    if here is None:
        return False
    said = {"v": 1, "of": _likeness(here), "step": None if step is None else int(step)}
    directory = Path(os.path.dirname(where))
    try:
        files.replace(directory / _name(here.name), wire.dumps(said))
    except OSError:
        return False
    _forget_the_gone(directory)
    return True


def _name(checkpoint: str) -> str:
    return f".{checkpoint}{SUFFIX}"


def _likeness(here: Look) -> str:
    """Sizes and times; inodes are not the same from every machine."""
    digest = blake2b(digest_size=16)
    for name, entry in sorted(here.files.items()):
        digest.update(f"{name}\0{entry.size}\0{entry.mtime}\n".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def _forget_the_gone(directory: Path) -> None:
    """A trainer that keeps its last few checkpoints leaves the markers of the others behind."""
    names = {entry.name for entry in files.entries(directory)}
    for name in names:
        if name.startswith(".") and name.endswith(SUFFIX) and name[1 : -len(SUFFIX)] not in names:
            with contextlib.suppress(OSError):
                os.unlink(directory / name)

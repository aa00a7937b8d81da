"""Where the very content that was found can be read now: under its own name, in its pin, or in an object store."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple

from paddock import settings
from paddock.catalog.place import cache_directory, private_directory
from paddock.errors import PaddockError
from paddock.evaluate.content.fingerprint import fingerprint
from paddock.evaluate.ledger.entry import Finding
from paddock.evaluate.origin.look import Look, look
from paddock.evaluate.origin.place import is_url
from paddock.record.process import me, parse


class Content(NamedTuple):
    path: str  # "" when it cannot be read
    why: str = ""
    away: bool = False  # the whole place is: then nothing is known of it
    changed: bool = False  # something else has its name


def find(finding: Finding, root: str) -> Content:
    """`root`: the directory that is watched."""
    if is_url(finding.path):
        return _find_object(finding)
    pinned = look(finding.pin) if finding.pin else None
    here = look(finding.path)
    if here is not None and fingerprint(here, _names(finding)) == finding.fingerprint:
        return Content(finding.path)
    if pinned is not None and fingerprint(pinned) == finding.fingerprint:
        return Content(finding.pin)
    if here is None:
        # Whoever deletes it leaves what it is kept by: where both are gone, the whole disk may be.
        place = _nearest(os.path.realpath(os.path.dirname(finding.path)), root) if finding.pin else root
        if _is_away(place):
            return Content("", f"nothing is in {place}: is its disk mounted?", away=True)
    return _lost(here)


def is_replaced(finding: Finding, path: str) -> bool:
    """Whether something else is there by now. That it was deleted says nothing against what was read before."""
    here = None if is_url(path) else look(path)
    return here is not None and fingerprint(here, _names(finding)) != finding.fingerprint


def is_only_pinned(finding: Finding, path: str) -> bool:
    """Whether its content is not where it was read, but kept."""
    if is_url(path) or not finding.pin or path == finding.pin:
        return False
    here, pinned = look(path), look(finding.pin)
    if here is not None and fingerprint(here, _names(finding)) == finding.fingerprint:
        return False
    return pinned is not None and fingerprint(pinned) == finding.fingerprint


def _names(finding: Finding) -> Collection[str] | None:
    """The files of a directory that are the checkpoint: what was added to it meanwhile is no part of it."""
    pinned = look(finding.pin) if finding.pin else None
    return pinned.files.keys() if pinned is not None else None


def _find_object(finding: Finding) -> Content:
    from paddock.evaluate.origin.store import look_at

    try:
        _, here = look_at(finding.path)
    except PaddockError:
        raise
    except Exception as error:  # of the store's library
        return Content("", f"{finding.path} cannot be read: {' '.join(str(error).split())}", away=True)
    if here is not None and fingerprint(here) == finding.fingerprint:
        return Content(finding.path)
    return _lost(here)


def _lost(here: Look | None) -> Content:
    what = "deleted" if here is None else "written over"
    return Content("", f"it was {what} before it was evaluated", changed=here is not None)


@contextlib.contextmanager
def local(finding: Finding, path: str) -> Iterator[str]:
    """What the evaluator gets: the path; of an object a copy of its own, which is removed afterwards."""
    if not is_url(path) or not finding.download:
        yield path
        return
    from paddock.evaluate.origin.store import look_at

    store, here = look_at(path)
    place = (
        cache_directory(settings.load().cache) or private_directory() or Path(tempfile.gettempdir())
    ) / "checkpoints"
    place.mkdir(parents=True, exist_ok=True)
    _sweep(place)
    own = place / f"{finding.key}.{me()}"
    try:
        target = own / os.path.basename(path)
        if here is not None:
            store.download(here, str(target))
        yield str(target)
    finally:
        shutil.rmtree(own, ignore_errors=True)


def _sweep(place: Path) -> None:
    """Copies of evaluations that were killed."""
    for name in os.listdir(place):
        _, _, owner = name.partition(".")
        process = parse(owner)
        if process is not None and process.is_gone():  # the cache may be shared with other machines
            shutil.rmtree(place / name, ignore_errors=True)


def _nearest(path: str, root: str) -> str:
    """The directory that it was in, or the first above it that is there."""
    while path.startswith(root.rstrip("/") + "/") and not os.path.lexists(path):
        path = os.path.dirname(path)
    return path


def _is_away(place: str) -> bool:
    """A mount point without its disk is an empty directory."""
    try:
        return not os.listdir(place)
    except OSError:
        return True

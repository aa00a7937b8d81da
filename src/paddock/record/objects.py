"""Content-addressed objects: <home>/code/objects/<2 hex>/<62 hex>, named by the SHA-256 of what is in them.

Kept as they are, not compressed: for 500 source files (4.9 MB) zlib cost 86 ms of every cold start and saved 3 MB of
blocks, and a plain file can be read with `cat`. Many processes may put, read and sweep at once without a lock:
an object appears whole by a rename, and never changes afterwards.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import secrets
from collections.abc import Iterable, Iterator
from time import monotonic, sleep, time

from paddock import files
from paddock.errors import Damaged, UsageError
from paddock.record.layout import Home

DIGEST = re.compile(r"[0-9a-f]{64}")
# Whoever puts an object that is there already makes it look fresh, so that no sweep takes it before the new run
# refers to it; once an hour is enough, because a sweep spares everything younger than GRACE_SECONDS.
FRESH_SECONDS = 3600.0
GRACE_SECONDS = 86_400.0
_SYNC_ONE_BY_ONE = 4  # so many files are brought to the disk singly; more by one call for the whole filesystem
_PATIENCE = 5.0  # seconds
_GONE = ".gone-"  # an object on its way out, while the sweep looks whether somebody has just asked for it


def digest_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def object_path(home: Home, digest: str) -> str:
    if not isinstance(digest, str) or not DIGEST.fullmatch(digest):
        raise UsageError(f"{digest!r} is no digest.", hint="A digest is 64 digits from 0-9a-f.")
    return f"{home.code}/objects/{digest[:2]}/{digest[2:]}"


def put_object(home: Home, data: bytes) -> str:
    """Keep `data`, also over a power cut, and return its digest."""
    digest, new = put_unsynced(home, data)
    if new:
        sync_objects(home, (digest,))
    return digest


def put_unsynced(home: Home, data: bytes) -> tuple[str, bool]:
    """Keep `data`; True when it was not there yet, and `sync_objects` has still to bring it to the disk."""
    digest = digest_of(data)
    path = object_path(home, digest)
    if is_kept(path, len(data)):
        return digest, False
    place(path, data)
    return digest, True


def is_kept(path: str, size: int) -> bool:
    """Whether the file is there and safe from a sweep. A wrong size is what a power cut leaves: written again."""
    try:
        found = os.stat(path)
        if found.st_size != size:
            return False
        if time() - found.st_mtime > FRESH_SECONDS:
            os.utime(path)
    except OSError:  # not there; or another user's, who alone may make it look fresh: replace it by ours
        return False
    return True


def place(path: str, data: bytes) -> None:
    """Write aside and rename. Not synced: a reader of a half-written object would notice by its digest."""
    directory, name = os.path.split(path)
    aside = f"{directory}/.{secrets.token_hex(8)}.tmp"
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC
    try:
        descriptor = os.open(aside, flags, 0o444)
    except FileNotFoundError:
        os.makedirs(directory, exist_ok=True)
        descriptor = os.open(aside, flags, 0o444)
    try:
        try:
            files.write_all(descriptor, data)
        finally:
            os.close(descriptor)
        os.replace(aside, f"{directory}/{name}")
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(aside)
        raise


def sync_objects(home: Home, digests: Iterable[str], *, strict: bool = False) -> None:
    """Bring objects to the disk. What the disk refuses here is found by its digest when it is read."""
    for digest in digests:
        sync_path(object_path(home, digest), strict=strict)


def sync_all(home: Home, digests: list[str], *, strict: bool = False) -> None:
    """The same for many, in one call where the system has one: a thread that wakes for each of 500 files takes the
    interpreter from the training each time (the slowest hundredth of log() calls: 87 us against 15)."""
    if len(digests) > _SYNC_ONE_BY_ONE and sync_filesystem(str(home.code)):
        return
    sync_objects(home, digests, strict=strict)


def sync_filesystem(path: str) -> bool:
    import ctypes

    try:
        sync = ctypes.CDLL(None, use_errno=True).syncfs
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except (OSError, AttributeError):
        return False
    try:
        return bool(sync(descriptor) == 0)
    finally:
        os.close(descriptor)


def sync_path(path: str, *, strict: bool = False) -> None:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError:
        if strict:
            raise


def get_object(home: Home, digest: str) -> bytes:
    """The object's bytes, checked against its name."""
    path = object_path(home, digest)
    try:
        data = _read_patiently(path)
    except FileNotFoundError:
        raise Damaged(
            f"The code store in {home.code} has no object {digest[:12]}.",
            hint="It was removed, or not copied with the rest of the home; restore it from a copy of the home.",
        ) from None
    except OSError as error:
        raise Damaged(
            f"The object {digest[:12]} in {home.code} cannot be read ({error.strerror or error}).",
            hint="Check the permissions and the disk.",
        ) from None
    if digest_of(data) != digest:
        raise Damaged(
            f"The object {digest[:12]} in {home.code} is damaged: its content does not fit its name.",
            hint="Restore it from a copy of the home, or delete it: the next run with that file writes it again.",
        )
    return data


def _read_patiently(path: str) -> bytes:
    """A sweep may have the file in hand, to put it back in a moment; on a busy machine that is a long one."""
    directory, name = os.path.split(path)
    deadline = monotonic() + _PATIENCE
    while True:
        try:
            return files.read_from(path, 0)
        except FileNotFoundError:
            held = any(entry.name.startswith(f"{_GONE}{name}.") for entry in files.entries(directory))
            if not held or monotonic() > deadline:
                return files.read_from(path, 0)  # it may have come back between the two looks
            sleep(0.005)


def has_object(home: Home, digest: str) -> bool:
    return os.path.isfile(object_path(home, digest))


def all_objects(home: Home) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """(digest, directory entry) of every object."""
    for folder in list(files.entries(home.code / "objects")):
        if len(folder.name) != 2 or not folder.is_dir(follow_symlinks=False):
            continue
        put_back_leftovers(folder.path)
        for entry in list(files.entries(folder.path)):
            if DIGEST.fullmatch(folder.name + entry.name):
                yield folder.name + entry.name, entry


def stale_asides(home: Home, grace: float = GRACE_SECONDS) -> list[str]:
    """What killed writers left beside the objects."""
    found: list[str] = []
    for folder in [home.code.as_posix(), *(e.path for e in files.entries(home.code / "objects") if e.is_dir())]:
        names = [e.path for e in files.entries(folder) if e.name.startswith(".") and e.name.endswith(".tmp")]
        found.extend(path for path in names if is_older(path, grace))
    return found


def is_older(path: str, seconds: float) -> bool:
    try:
        return time() - os.lstat(path).st_mtime > seconds
    except OSError:
        return False


def take_away(path: str, grace: float) -> int:
    """Remove the file unless somebody put it again meanwhile; returns the bytes that came free.

    It is renamed first and judged after: from then on a writer finds it missing and writes it anew, and a writer that
    came before has made it look fresh.
    """
    if not is_older(path, grace):
        return 0
    directory, name = os.path.split(path)
    aside = f"{directory}/{_GONE}{name}.{secrets.token_hex(4)}"
    try:
        os.rename(path, aside)
    except OSError:
        return 0
    if not is_older(aside, grace):
        _put_back(aside, path)
        return 0
    size = os.lstat(aside).st_size
    os.unlink(aside)
    return size


def put_back_leftovers(folder: str) -> None:
    """Put back what a killed sweep had renamed but not yet judged."""
    for entry in list(files.entries(folder)):
        if entry.name.startswith(_GONE):
            _put_back(entry.path, f"{folder}/{entry.name.removeprefix(_GONE).rpartition('.')[0]}")


def _put_back(aside: str, path: str) -> None:
    """By a link, which never covers a copy that a writer has made meanwhile (and which looks fresher)."""
    with contextlib.suppress(OSError):
        try:
            os.link(aside, path)
        except FileExistsError:
            pass
        except OSError:  # no hard links on this filesystem
            os.rename(aside, path)
            return
        os.unlink(aside)

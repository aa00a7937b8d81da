"""Many files brought to the disk for little more than the price of one.

To ask for each file costs a write and a flush of the disk's own memory for each. The kernel can bring a whole
filesystem to the disk in one go, with neighbours in one write; it then waits for everybody else's data too. So that is
asked for only where little else waits, and where an error is told as fsync tells it. Otherwise all files are on their
way before any of them is waited for, and share the commits of the filesystem.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Sequence
from functools import cache

_THREADS = 8
_MANY = 16  # files for which threads are worth while
_SOME = 4  # for which the whole filesystem is
_DIRTY_KB = 65_536  # that wait for the disk, in the whole system: a quarter of a second for a slow one
_WRITE = 2  # SYNC_FILE_RANGE_WRITE
_TYPES = {0xEF53, 0x58465342, 0x9123683E, 0xF2F52010}  # ext2 to 4, xfs, btrfs, f2fs
_libc = ctypes.CDLL(None, use_errno=True)
_sync_file_range = getattr(_libc, "sync_file_range", None)  # Linux has it
if _sync_file_range is not None:
    _sync_file_range.argtypes = [ctypes.c_int, ctypes.c_int64, ctypes.c_int64, ctypes.c_uint]


def start(descriptors: Sequence[int]) -> None:
    """Have the kernel write what it holds of these files; nothing is waited for, and nothing is promised yet."""
    if len(descriptors) > 1 and _sync_file_range is not None:
        for descriptor in descriptors:
            _sync_file_range(descriptor, 0, 0, _WRITE)


def sync(descriptors: Sequence[int]) -> None:
    """They are on the disk when this returns."""
    if not sync_together(descriptors, len(descriptors)):
        sync_each(descriptors)


def sync_each(descriptors: Sequence[int]) -> None:
    start(descriptors)
    if len(descriptors) < _MANY:
        _sync_each(descriptors)
        return
    from concurrent.futures import ThreadPoolExecutor  # half as much to import as all of a worker's queue

    with ThreadPoolExecutor(_THREADS) as pool:
        list(pool.map(_sync_each, [descriptors[n::_THREADS] for n in range(_THREADS)]))


def sync_together(descriptors: Sequence[int], count: int) -> bool:
    """Bring so many files to the disk with all else on theirs, each of which one of the descriptors is of; those must
    have been opened before anything was written that may fail. False when that is not wise, or somebody's data could
    not be written: then each is to be asked for by itself."""
    syncfs = _whole_filesystem()
    if count < _SOME or syncfs is None:
        return False
    try:
        places = {os.fstat(descriptor).st_dev: descriptor for descriptor in descriptors}
        if not all(_is_known(device, descriptor) for device, descriptor in places.items()) or not _little_waits():
            return False
    except OSError:
        return False
    return all(syncfs(descriptor) == 0 for descriptor in places.values())


def _sync_each(descriptors: Sequence[int]) -> None:
    for descriptor in descriptors:
        os.fsync(descriptor)


@cache
def _whole_filesystem() -> Callable[[int], int] | None:
    """syncfs(), where it tells of errors: since Linux 5.8."""
    release = os.uname().release.split(".")
    try:
        tells = (int(release[0]), int(release[1].split("-")[0])) >= (5, 8)
    except (ValueError, IndexError):
        return None
    return getattr(_libc, "syncfs", None) if tells else None


_kinds: dict[int, bool] = {}


def _is_known(device: int, descriptor: int) -> bool:
    """Whether the filesystem is of a kind that does what is asked."""
    if device not in _kinds:
        about = ctypes.create_string_buffer(256)
        failed = _libc.fstatfs(descriptor, about)
        _kinds[device] = not failed and ctypes.c_long.from_buffer(about).value in _TYPES
    return _kinds[device]


def _little_waits() -> bool:
    with open("/proc/meminfo", "rb", buffering=0) as file:
        for line in file.read(4096).split(b"\n"):
            if line.startswith((b"Dirty:", b"Writeback:")) and int(line.split()[1]) > _DIRTY_KB:
                return False
    return True

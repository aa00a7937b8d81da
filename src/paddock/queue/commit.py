"""Many files brought to the disk for little more than the price of one: they are all on their way before any of them is
waited for, and so share the commits of the filesystem."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

_THREADS = 8
_FEW = 16  # that need no threads
_WRITE = 2  # SYNC_FILE_RANGE_WRITE
_sync_file_range = getattr(ctypes.CDLL(None), "sync_file_range", None)  # Linux has it
if _sync_file_range is not None:
    _sync_file_range.argtypes = [ctypes.c_int, ctypes.c_int64, ctypes.c_int64, ctypes.c_uint]


def start(descriptors: Sequence[int]) -> None:
    """Have the kernel write what it holds of these files; nothing is waited for, and nothing is promised yet."""
    if len(descriptors) > 1 and _sync_file_range is not None:
        for descriptor in descriptors:
            _sync_file_range(descriptor, 0, 0, _WRITE)


def sync(descriptors: Sequence[int]) -> None:
    """They are on the disk when this returns."""
    start(descriptors)
    if len(descriptors) < _FEW:
        _sync_each(descriptors)
        return
    with ThreadPoolExecutor(_THREADS) as pool:
        list(pool.map(_sync_each, [descriptors[n::_THREADS] for n in range(_THREADS)]))


def _sync_each(descriptors: Sequence[int]) -> None:
    for descriptor in descriptors:
        os.fsync(descriptor)

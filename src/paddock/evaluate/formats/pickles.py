"""Whether a pickle has its end. Its codes are read as codes: nothing is ever unpickled."""

from __future__ import annotations

import pickletools
from functools import lru_cache

_MOST = 4 << 20  # bytes whose codes are read in about a second; of larger ones the last byte must do
_STOP = b"."


@lru_cache(maxsize=64)
def is_whole(data: bytes) -> bool:
    if data[-1:] != _STOP:
        return False
    if len(data) > _MOST:
        return True
    try:
        last = 0
        for _, _, at in pickletools.genops(data):
            last = at or 0
    except Exception:  # whatever a parser of foreign bytes raises
        return False
    return last == len(data) - 1

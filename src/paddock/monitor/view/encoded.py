"""Series that were encoded a while ago: a page that is open in ten browsers is made once."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import Any, NamedTuple

_BYTES = 64 << 20


class Want(NamedTuple):
    """What an encoded series depends on."""

    run: str
    metric: str
    params: tuple[Any, ...]
    stat: Any  # what the metric has come to: another one when there are new points


class Encoded:
    """Series that were encoded a while ago, the latest used of them, up to some megabytes."""

    def __init__(self, most: int = _BYTES) -> None:
        self._most, self._bytes, self._lock = most, 0, Lock()
        self._held: OrderedDict[Want, bytes] = OrderedDict()

    def get(self, want: Want) -> bytes | None:
        with self._lock:
            found = self._held.get(want)
            if found is not None:
                self._held.move_to_end(want)
            return found

    def put(self, want: Want, data: bytes) -> None:
        with self._lock:
            self._bytes += len(data) - len(self._held.pop(want, b""))
            self._held[want] = data
            while self._bytes > self._most:
                self._bytes -= len(self._held.popitem(last=False)[1])

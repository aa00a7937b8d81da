"""A process that reads journals for another one: it is told files, and answers with what is in them."""

from __future__ import annotations

import gc
import marshal
import os
import signal
import sys
from typing import Any, BinaryIO

from paddock.catalog.piece import packed, read_pieces
from paddock.files import open_regular

LENGTH_BYTES = 8


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for who asked; we end when nobody asks any more
    gc.disable()  # nothing here goes in circles
    source, sink = sys.stdin.buffer, os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)  # whatever prints must not do so into the answers
    while (paths := receive(source)) is not None:
        send(sink, {path: _read(path) for path in paths})


def _read(path: str) -> list[tuple[Any, ...]]:
    try:
        with open_regular(path) as stream:
            return [packed(piece) for piece in read_pieces(stream)]
    except OSError:  # who asked will find out
        return []


def send(stream: BinaryIO, value: Any) -> None:
    data = marshal.dumps(value)
    left = memoryview(len(data).to_bytes(LENGTH_BYTES, "little") + data)
    while left:
        left = left[stream.write(left) :]


def receive(stream: BinaryIO) -> Any:
    """None at the end."""
    head = _exactly(stream, LENGTH_BYTES)
    if head is None:
        return None
    data = _exactly(stream, int.from_bytes(head, "little"))
    return marshal.loads(data) if data is not None else None


def _exactly(stream: BinaryIO, size: int) -> bytearray | None:
    """Of a stream without a buffer, which gives what is there; None when it ends before."""
    data = bytearray(size)
    left = memoryview(data)
    while left:
        count = stream.readinto(left)  # type: ignore[attr-defined]
        if not count:
            return None
        left = left[count:]
    return data


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:
        os._exit(0)

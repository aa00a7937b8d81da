"""Reading many new runs with all processors: other processes parse their journals, this one writes the index.

What they cannot do (a process that does not start or dies, a run that is too large to be passed on whole) is read here,
as it is when there is little to read.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import subprocess
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from paddock.catalog.piece import Piece, unpacked
from paddock.catalog.reader import receive, send
from paddock.record.scan import journal_files

LEAST_BYTES = 8 << 20  # less is read here before the others have started
BATCH_BYTES = 1 << 19
BATCH_LETTERS = 1 << 14  # of their paths: what a reader is told must fit into a pipe, or both would wait for ever
MOST_BYTES = 32 << 20  # of one run: it is held in memory
MOST_READERS = 8
_AHEAD = 2  # batches that a reader has at a time, so that it never waits
_PIPE_BYTES = 1 << 20

Pieces = dict[str, list[Piece]]  # by the journal's path


class Batch(NamedTuple):
    runs: list[str]
    paths: list[str]


def in_turn(base: str, runs: Sequence[str]) -> Iterator[tuple[str, Pieces]]:
    """The given new runs in any order, each with what others have read of it, which may be nothing."""
    large, batches = _divided(base, runs)
    count = min(_processors() - 1, MOST_READERS) if batches else 0  # we read too
    if count < 1:
        yield from ((run, {}) for run in runs)
        return
    with contextlib.ExitStack() as stack:
        readers = [reader for _ in range(count) if (reader := Reader.start(stack)) is not None]
        while batches or any(reader.held for reader in readers):
            for reader in readers:
                while batches and len(reader.held) < _AHEAD and reader.give(batches[-1]):
                    batches.pop()
            ready = _ready(readers, wait=not batches)
            for reader in ready:
                batch, found = reader.take()
                if batch is not None:
                    yield from ((run, found) for run in batch.runs)
                else:
                    batches.extend(reader.held)
                    readers.remove(reader)
            if not ready and batches:
                yield from ((run, {}) for run in batches.popleft().runs)
    yield from ((run, {}) for run in large)


def _processors() -> int:
    if not os.path.basename(sys.executable).startswith(("python", "pypy")):
        return 1  # a program that Python is built into: it would be started, not us
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _divided(base: str, runs: Sequence[str]) -> tuple[list[str], deque[Batch]]:
    """The runs that are read here anyway, and the others in batches; no batches when all of it is little."""
    large: list[str] = []
    batches: deque[Batch] = deque()
    total = room = letters = 0
    for run in runs:
        try:
            files = [file for file in journal_files(f"{base}/{run}/journal") if not file.packed]
        except OSError:
            files = []
        size = sum(file.size for file in files)
        if not size or size > MOST_BYTES:
            large.append(run)
            continue
        total += size
        length = sum(len(file.path) for file in files)
        if size > room or length > letters:
            batches.append(Batch([], []))
            room, letters = BATCH_BYTES, BATCH_LETTERS
        room, letters = room - size, letters - length
        batches[-1].runs.append(run)
        batches[-1].paths.extend(file.path for file in files)
    return (large, batches) if total >= LEAST_BYTES else (list(runs), deque())


def _ready(readers: Sequence[Reader], *, wait: bool) -> list[Reader]:
    poller = select.poll()
    busy = {reader.fileno(): reader for reader in readers if reader.held}
    for descriptor in busy:
        poller.register(descriptor, select.POLLIN)
    return [busy[descriptor] for descriptor, _ in poller.poll(None if wait else 0)] if busy else []


class Reader:
    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self.held: list[Batch] = []  # what it was told to read and has not answered yet

    @classmethod
    def start(cls, stack: contextlib.ExitStack) -> Reader | None:
        """It ends with the stack."""
        where = os.pathsep.join(path or os.getcwd() for path in sys.path)
        command = [sys.executable, "-m", "paddock.catalog.reader"]
        try:
            process = subprocess.Popen(
                command,
                bufsize=0,  # an answer that waited in a buffer of ours would be in no pipe that is polled
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": where},
            )
        except OSError:
            return None
        stack.callback(_end, process)
        assert process.stdout is not None
        with contextlib.suppress(OSError, AttributeError):  # more than we may have: then the usual size has to do
            fcntl.fcntl(process.stdout, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
        return cls(process)

    def fileno(self) -> int:
        assert self._process.stdout is not None
        return self._process.stdout.fileno()

    def give(self, batch: Batch) -> bool:
        assert self._process.stdin is not None
        try:
            send(self._process.stdin, batch.paths)  # type: ignore[arg-type]
        except OSError:  # it has ended, as `take` will find
            return False
        self.held.append(batch)
        return True

    def take(self) -> tuple[Batch | None, Pieces]:
        """Its next answer; no batch when it is dead."""
        assert self._process.stdout is not None
        found: dict[str, list[tuple[Any, ...]]] | None = receive(self._process.stdout)  # type: ignore[arg-type]
        if found is None:
            return None, {}
        return self.held.pop(0), {path: [unpacked(piece) for piece in pieces] for path, pieces in found.items()}


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()
    process.wait()

"""The directory of a task with several ranks: `queue.gang` says what its files mean."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from typing import TypeVar

import msgspec

from paddock import files, wire
from paddock.queue.directory import DirectoryQueue
from paddock.queue.ensemble import gang
from paddock.queue.ensemble.gang import GANGS, Gang, Go, Result, Seat
from paddock.queue.lifecycle import Token

T = TypeVar("T")


class Gathering:
    def __init__(self, queue: DirectoryQueue, task_id: str) -> None:
        self.path = queue.path / GANGS / task_id

    def names(self) -> list[str] | None:
        """None when nobody can say; a directory that is not there holds nothing."""
        try:
            return os.listdir(self.path)
        except FileNotFoundError:
            return []
        except OSError:
            return None

    def list(self) -> Gang | None:
        names = self.names()
        return gang.read_names(names) if names is not None else None

    # Seats. An offer holds nothing: its name says it all, and it may vanish in a power cut with the slot it is for.

    def offer(self, seat: Seat) -> None:
        self.path.mkdir(parents=True, exist_ok=True)
        os.close(os.open(self.path / gang.offer_name(seat), os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o644))

    def withdraw(self, seat: Seat) -> bool:
        """Take an offer back; False when somebody has taken it, or nobody can say."""
        try:
            os.unlink(self.path / gang.offer_name(seat))
            return True
        except FileNotFoundError:
            found = self.list()
            return found is not None and seat not in found.ranks
        except OSError:
            return False

    def take(self, seat: Seat, rank: int) -> bool:
        """Make an offer the place of a rank; False when it was withdrawn."""
        name = gang.rank_name(rank, seat)
        try:
            os.rename(self.path / gang.offer_name(seat), self.path / name)
            return True
        except FileNotFoundError:  # over NFS it may have happened all the same
            return name in (self.names() or ())

    def put_back(self, seat: Seat, rank: int) -> None:
        with contextlib.suppress(OSError):
            os.rename(self.path / gang.rank_name(rank, seat), self.path / gang.offer_name(seat))

    def leave(self, seat: Seat, rank: int) -> None:
        self.remove([gang.rank_name(rank, seat), gang.offer_name(seat)])

    # What is said

    def say_go(self, token: Token, go: Go) -> None:
        files.replace(self.path / gang.go_name(token), wire.dumps(msgspec.to_builtins(go), indent=1))

    def say_stop(self, token: Token, why: str) -> None:
        files.replace(self.path / gang.stop_name(token), f"{why}\n".encode())

    def say_result(self, seat: Seat, result: Result) -> None:
        self.path.mkdir(parents=True, exist_ok=True)  # a person may have removed it
        name = gang.result_name(result.rank, seat, result.well)
        files.replace(self.path / name, wire.dumps(msgspec.to_builtins(result), indent=1))

    def go(self, token: Token) -> Go | None:
        return self._read(gang.go_name(token), Go)

    def result(self, seat: Seat, rank: int, well: bool) -> Result | None:
        return self._read(gang.result_name(rank, seat, well), Result)

    def _read(self, name: str, kind: type[T]) -> T | None:
        """None when it is not there, or not to be read."""
        try:
            return msgspec.convert(wire.loads(files.read_from(self.path / name, 0)), kind)
        except (OSError, wire.DecodeError):
            return None

    # The end

    def clean(self, token: Token, go: Go) -> None:
        """Remove what belongs to an attempt that is over, and nothing of the next one."""
        names = [gang.go_name(token), gang.stop_name(token), gang.rendezvous_name(token)]
        for rank, seat in enumerate(go.places):
            names += [gang.rank_name(rank, seat), *(gang.result_name(rank, seat, well) for well in (True, False))]
        self.remove(names)

    def remove(self, names: Iterable[str]) -> None:
        for name in names:
            with contextlib.suppress(OSError):
                os.unlink(self.path / name)
        with contextlib.suppress(OSError):  # somebody gathers here
            os.rmdir(self.path)


def gatherings(queue: DirectoryQueue) -> dict[str, Gathering] | None:
    """All that a queue has, by the task's id; None when nobody can say."""
    try:
        names = os.listdir(queue.path / GANGS)
    except FileNotFoundError:
        names = []
    except OSError:
        return None
    return {name: Gathering(queue, name) for name in names if not name.startswith(".")}

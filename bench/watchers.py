"""What a benchmark needs from a system that evaluates checkpoints: a subclass of Watcher per peer, in bench/peers/."""

from __future__ import annotations

import contextlib
import os
import select
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import perf_counter

from bench.system import System

BEGIN_SECONDS = 120
# The first line says when it was reached, on the clock that all processes share.
EVALUATOR = """
import os
from time import perf_counter

PIPE = {pipe!r}

def evaluate(path):
    begun = perf_counter()
    descriptor = os.open(PIPE, os.O_WRONLY)
    os.write(descriptor, f"{{begun}} {{os.path.basename(path)}}\\n".encode())
    os.close(descriptor)
    return {{"acc": 0.5}}
"""


class Watcher(System):
    pause = (0.5, 0.7)  # seconds between two checkpoints, from and to: at random, so that no clock beats with another's
    samples = 30  # in a round
    rests = False  # it waits until a file that is written in place has come to rest

    def watching(
        self, home: Path, directories: Sequence[Path], evaluator: Path
    ) -> contextlib.AbstractContextManager[None]:
        """Evaluate what comes into the directories by `evaluate` in that file, for the time of the block."""
        raise NotImplementedError


class Checkpoints:
    """They appear, and their evaluations say when they began."""

    def __init__(self, home: Path) -> None:
        self.evaluator = home / "evaluator.py"
        pipe = home / "begun.pipe"
        os.mkfifo(pipe)
        # Open for both directions: then nobody waits for the other end to be opened.
        self._begun = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)
        self.evaluator.write_text(EVALUATOR.format(pipe=str(pipe)))
        self._number = 0

    def _new(self) -> str:
        self._number += 1
        return f"step={self._number}.pt"

    def appear(self, directory: Path) -> float:
        """By a rename, as careful trainers do: the seconds from that to the first line of the evaluator."""
        name = self._new()
        aside = directory / f".{name}"
        write(aside, name)
        start = perf_counter()
        aside.rename(directory / name)
        return self.begun(name) - start

    def written(self, directory: Path) -> float:
        """In place, as torch.save() does: the seconds from its last byte."""
        name = self._new()
        write(directory / name, name)
        start = perf_counter()
        return self.begun(name) - start

    def begun(self, name: str) -> float:
        while True:
            if not select.select([self._begun], [], [], BEGIN_SECONDS)[0]:
                raise TimeoutError(f"{name} was not evaluated within {BEGIN_SECONDS} s")
            for line in os.read(self._begun, 65536).decode().splitlines():
                at, _, which = line.partition(" ")
                if which == name:
                    return float(at)


def write(path: Path, content: str) -> None:
    """A zip archive, which is what torch.save() writes."""
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("archive/data.pkl", content)


def make_directories(home: Path, count: int, files: int) -> list[Path]:
    """Each with checkpoints that were there before."""
    found = [home / "out" / f"run-{number}" for number in range(count)]
    for directory in found:
        directory.mkdir(parents=True)
        for number in range(files):
            write(directory / f"old-step={number}.pt", f"{directory.name} {number}")
    return found


@contextlib.contextmanager
def ready(
    system: Watcher, home: Path, directories: int = 1, files: int = 0
) -> Iterator[tuple[list[Path], Checkpoints]]:
    """A system that has evaluated one checkpoint already."""
    checkpoints = Checkpoints(home)
    found = make_directories(home, directories, files)
    with system.watching(home, found, checkpoints.evaluator):
        checkpoints.appear(found[0])
        yield found, checkpoints

"""`paddock watch` with its own worker: the ledger and the queue on a local disk, every promise kept."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.processes import started, wait_until
from bench.watchers import Watcher


class PaddockWatch(Watcher):
    """Interpreters wait with the evaluator imported."""

    name = "paddock watch"
    rests = True
    options: tuple[str, ...] = ()

    def environment(self, home: Path) -> dict[str, str]:
        return {"PADDOCK_HOME": str(home / "paddock"), "PADDOCK_CACHE": str(home / "cache")}

    @contextlib.contextmanager
    def watching(self, home: Path, directories: Sequence[Path], evaluator: Path) -> Iterator[None]:
        words = [*map(str, directories), "--evaluator", f"{evaluator}:evaluate", *self.options]
        with started([sys.executable, "-m", "paddock", "watch", *words], home) as process:
            begun = (home / "paddock" / "watches").glob
            wait_until(
                lambda: len(list(begun("*/begun"))) == len(directories) or process.poll() is not None,
                "the watch begins",
            )
            yield


class PaddockIsolated(PaddockWatch):
    """A process is started for each evaluation."""

    name = "paddock watch --isolate"
    rests = False
    options = ("--isolate",)


SYSTEMS = (PaddockWatch(), PaddockIsolated())

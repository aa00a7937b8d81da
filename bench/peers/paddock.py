"""Paddock itself, as a script, a notebook and the command line use it."""

from __future__ import annotations

import shutil
from array import array
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from bench.peers.paddock_queue import PaddockInPlace, PaddockQueue
from bench.system import Run


class Paddock(PaddockQueue):
    name = "paddock"
    distribution = "paddock"
    statement = "import paddock"

    def start(self, home: Path, name: str, config: dict[str, Any]) -> Run:
        import paddock

        run = paddock.init(project="bench", name=name, config=config)
        return Run(run.log, run.finish)

    def read(self, home: Path, metric: str) -> dict[str, array[float]]:
        import paddock

        return {run: curve.values for run, curve in paddock.runs().series(metric).items()}

    def steps(self, home: Path, metric: str) -> Iterable[int]:
        import paddock

        for curve in paddock.runs().series(metric).values():
            yield from curve.steps

    def listed(self, home: Path) -> Any:
        """Every run with its config and what its metrics came to."""
        import paddock

        return paddock.runs()

    def index(self, home: Path) -> int:
        """Bring the index up to date; how many journal lines were new."""
        from paddock.catalog.catalog import Catalog
        from paddock.record.layout import Home

        with Catalog.open(Home(self.root(home))) as catalog:
            return catalog.refresh().lines

    def forget(self, home: Path) -> None:
        """Delete the index, which is only a view; and import what makes it, so that no timing of it does."""
        import paddock.catalog.catalog  # noqa: F401

        shutil.rmtree(home / "cache", ignore_errors=True)

    def pack_arguments(self) -> list[str]:
        return ["gc", "--pack"]

    def export_arguments(self, target: Path) -> list[str]:
        return ["export", "--output", str(target)]


SYSTEMS = (Paddock(), PaddockInPlace())

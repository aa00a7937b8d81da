"""aim with its local repository; its usage and terminal capture are off."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from bench.system import Run, System


class Aim(System):
    name = "aim"
    distribution = "aim"
    statement = "import aim"
    log_calls = 1_000
    data_runs = 10

    def environment(self, home: Path) -> dict[str, str]:
        return {"AIM_ACCESS_DISABLED": "1", "HOME": str(home)}  # HOME: its profile says whether to send analytics

    def start(self, home: Path, name: str, config: dict[str, Any]) -> Run:
        import aim

        run = aim.Run(repo=str(home), experiment="bench", system_tracking_interval=None, capture_terminal_logs=False)
        run.name = name
        run["config"] = config
        return Run(run.track, run.close)

    def write(self, home: Path, runs: Iterable[tuple[str, Iterator[dict[str, float]]]]) -> None:
        super().write(home, runs)
        self.reindex(home)

    def reindex(self, home: Path) -> None:
        """`aim storage reindex`: without it, or a server that does the same, no query finds a run."""
        import aim

        aim.Repo(str(home))._recreate_index()

    def metrics(self, home: Path, metric: str) -> Iterable[tuple[str, Any]]:
        import aim

        for found in aim.Repo(str(home)).query_metrics(f"metric.name == {metric!r}", report_mode=0).iter():
            yield found.run.hash, found.values.sparse_numpy()

    def read(self, home: Path, metric: str) -> dict[str, array[float]]:
        return {run: values for run, (_, values) in self.metrics(home, metric)}

    def steps(self, home: Path, metric: str) -> Iterable[int]:
        self.reindex(home)
        for _, (steps, _) in self.metrics(home, metric):
            yield from (int(step) for step in steps)


SYSTEMS = (Aim(),)

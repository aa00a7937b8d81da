"""What a benchmark needs from a system: one subclass per peer, in bench/peers/."""

from __future__ import annotations

import importlib
from array import array
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

PEERS = (
    *("paddock", "floor", "tensorboardx", "wandb", "mlflow", "trackio", "aim"),
    *("paddock_redis", "rq", "hyperqueue", "huey", "dramatiq", "commands"),
    *("paddock_watch", "assayer", "inotify_loop", "servers", "boards", "pages"),
)


class Run(NamedTuple):
    """A run that is being logged: the system's own callables, so that nothing of ours is timed."""

    log: Callable[..., Any]  # log(values, step=n)
    finish: Callable[[], Any]


class System:
    name = ""
    distribution = ""  # what pip calls it; empty for what needs nothing
    statement = ""  # what a script writes at its top
    log_calls = 20_000  # a slow system gets fewer, or the rounds would take hours
    data_runs = 100  # the same for the runs that are written to be read

    def environment(self, home: Path) -> dict[str, str]:
        """Set before the system is imported: no network, no telemetry, everything below `home`."""
        return {}

    def start(self, home: Path, name: str, config: dict[str, Any]) -> Run:
        raise NotImplementedError(f"{self.name} does not log")

    def read(self, home: Path, metric: str) -> dict[str, array[float]]:
        """One metric of all runs, by the system's own way of reading."""
        raise NotImplementedError(f"{self.name} does not read")

    def steps(self, home: Path, metric: str) -> Iterable[int]:
        """The steps of a metric that can be read back, for the runs of one process that was killed."""
        raise NotImplementedError(f"{self.name} does not read")

    def write(self, home: Path, runs: Iterable[tuple[str, Iterator[dict[str, float]]]]) -> None:
        """Write many runs; not timed, so a system may have a faster way than a call per step."""
        for name, rows in runs:
            run = self.start(home, name, {"name": name})
            for step, values in enumerate(rows):
                run.log(values, step=step)
            run.finish()

    def version(self) -> str:
        if not self.distribution:
            return ""
        try:
            return version(self.distribution)
        except PackageNotFoundError:
            return "not installed"


def all_systems() -> dict[str, System]:
    found: dict[str, System] = {}
    for peer in PEERS:
        for system in importlib.import_module(f"bench.peers.{peer}").SYSTEMS:
            found[system.name] = system
    return found

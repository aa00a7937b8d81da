"""tensorboardX writes event files; TensorBoard's own EventAccumulator reads them (tensorboardX has no reader)."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from bench.system import Run, System


class TensorBoardX(System):
    name = "tensorboardX"
    distribution = "tensorboardX"
    statement = "import tensorboardX"
    log_calls = 2_000
    data_runs = 20

    def start(self, home: Path, name: str, config: dict[str, Any]) -> Run:
        from tensorboardX import SummaryWriter

        writer = SummaryWriter(str(home / name))
        add = writer.add_scalar  # add_scalars() makes a file per metric, and is slower

        def log(values: dict[str, float], step: int) -> None:
            for metric, value in values.items():
                add(metric, value, step)

        return Run(log, writer.close)

    def events(self, home: Path, metric: str) -> Iterable[tuple[str, Any]]:
        from tensorboard.backend.event_processing.event_accumulator import SCALARS, EventAccumulator

        for path in sorted(home.iterdir()):
            accumulator = EventAccumulator(str(path), size_guidance={SCALARS: 0}).Reload()
            if metric in accumulator.Tags()[SCALARS]:
                yield path.name, accumulator.Scalars(metric)

    def read(self, home: Path, metric: str) -> dict[str, array[float]]:
        return {run: array("d", [event.value for event in events]) for run, events in self.events(home, metric)}

    def steps(self, home: Path, metric: str) -> Iterable[int]:
        for _, events in self.events(home, metric):
            yield from (event.step for event in events)


SYSTEMS = (TensorBoardX(),)

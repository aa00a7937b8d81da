"""What the standard library and polars need for the same work: no system can be much below."""

from __future__ import annotations

import json
import os
from array import array
from collections.abc import Iterable, Iterator
from pathlib import Path
from time import time
from typing import Any

from bench.system import Run, System


class JsonLines(System):
    """json.dumps of the step, the time and the values, and one os.write: the least that is safe under kill -9."""

    name = "json+write"
    statement = "import json, os, time"

    def line(self, values: dict[str, float], step: int) -> Any:
        return {"step": step, "time": time(), **values}

    def start(self, home: Path, name: str, config: dict[str, Any]) -> Run:
        descriptor = os.open(home / f"{name}.jsonl", os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o644)
        make, dumps, write = self.line, json.dumps, os.write

        def log(values: dict[str, float], step: int) -> None:
            write(descriptor, (dumps(make(values, step)) + "\n").encode())

        def finish() -> None:
            os.fdatasync(descriptor)
            os.close(descriptor)

        return Run(log, finish)

    def steps(self, home: Path, metric: str) -> Iterable[int]:
        for path in home.glob("*.jsonl"):
            for line in path.read_bytes().split(b"\n")[:-1]:
                yield json.loads(line)["step"]


class JsonRows(JsonLines):
    """The same for a row without names, as short as Paddock's own: the strictest floor."""

    name = "json+write rows"

    def line(self, values: dict[str, float], step: int) -> Any:
        return [0, step, int(time() * 1000) % 1_000_000, *values.values(), 2774923301]

    def steps(self, home: Path, metric: str) -> Iterable[int]:
        for path in home.glob("*.jsonl"):
            for line in path.read_bytes().split(b"\n")[:-1]:
                yield json.loads(line)[1]


class Polars(System):
    """Parquet read by polars: what reading costs when nothing has to be kept up to date."""

    name = "polars+parquet"
    distribution = "polars"
    statement = "import polars"

    def write(self, home: Path, runs: Iterable[tuple[str, Iterator[dict[str, float]]]]) -> None:
        import polars

        frames = []
        for name, rows in runs:
            frame = polars.DataFrame(list(rows)).with_row_index("step")
            frames.append(frame.select(polars.lit(name).alias("run"), polars.all()))
        polars.concat(frames).write_parquet(home / "points.parquet")

    def read(self, home: Path, metric: str) -> dict[str, array[float]]:
        import polars

        frame = polars.read_parquet(home / "points.parquet", columns=["run", "step", metric])
        return {"all": frame[metric].to_numpy()}


SYSTEMS = (JsonLines(), JsonRows(), Polars())

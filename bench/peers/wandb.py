"""wandb in offline mode. It has no Python API for reading offline runs: its record file is read here with its own
messages (a LevelDB log of protobuf records), which is what its `sync` does."""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from bench.system import Run, System

BLOCK, HEADER, FILE_HEADER = 32768, 7, 7
LAST_PARTS = (1, 4)  # a whole record, or the last part of one


class Wandb(System):
    name = "wandb offline"
    distribution = "wandb"
    statement = "import wandb"
    log_calls = 2_000
    data_runs = 10

    def environment(self, home: Path) -> dict[str, str]:
        return {
            "WANDB_MODE": "offline",
            "WANDB_DIR": str(home),
            "WANDB_CACHE_DIR": str(home / "cache"),
            "WANDB_CONFIG_DIR": str(home / "config"),
            "WANDB_DATA_DIR": str(home / "data"),
            "WANDB_SILENT": "true",
            "WANDB_ERROR_REPORTING": "false",
            "WANDB_CONSOLE": "off",
        }

    def start(self, home: Path, name: str, config: dict[str, Any]) -> Run:
        import wandb

        settings = wandb.Settings(x_disable_stats=True, x_disable_meta=True, disable_git=True, disable_code=True)
        run = wandb.init(project="bench", name=name, config=config, settings=settings)
        return Run(run.log, run.finish)

    def history(self, home: Path, metric: str) -> Iterator[tuple[str, list[int], array[float]]]:
        from wandb.proto.wandb_internal_pb2 import Record

        for path in sorted(home.glob("wandb/offline-run-*/*.wandb")):
            steps, values = [], array("d")
            for raw in records(path.read_bytes()):
                record = Record.FromString(raw)
                if record.WhichOneof("record_type") != "history":
                    continue
                for item in record.history.item:
                    if item.key == metric or list(item.nested_key) == [metric]:
                        values.append(json.loads(item.value_json))
                        steps.append(record.history.step.num)
            yield path.stem, steps, values

    def read(self, home: Path, metric: str) -> dict[str, array[float]]:
        return {run: values for run, _, values in self.history(home, metric)}

    def steps(self, home: Path, metric: str) -> Iterable[int]:
        for _, steps, _ in self.history(home, metric):
            yield from steps


def records(data: bytes) -> Iterator[bytes]:
    at, parts = FILE_HEADER, []
    while at + HEADER <= len(data):
        left = BLOCK - at % BLOCK
        if left < HEADER:
            at += left
            continue
        size, kind = int.from_bytes(data[at + 4 : at + 6], "little"), data[at + 6]
        part = data[at + HEADER : at + HEADER + size]
        if kind == 0 or len(part) < size:
            return
        parts.append(part)
        at += HEADER + size
        if kind in LAST_PARTS:
            yield b"".join(parts)
            parts = []


SYSTEMS = (Wandb(),)

"""The numbers that all systems log: full-length floats, as a training makes them, the same in every run."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from pathlib import Path

CONFIG = {
    "lr": 0.0003, "batch_size": 128, "epochs": 90, "optimizer": "adamw", "weight_decay": 0.05, "seed": 0,
    "model.name": "vit-small", "model.depth": 12, "model.dropout": 0.1, "data.path": "/data/imagenet",
}  # fmt: skip


def five(step: int, noise: random.Random) -> dict[str, float]:
    return {
        "train/loss": 2.3 * math.exp(-step / 5_000) + 0.1 * noise.random(),
        "train/acc": 1 - math.exp(-step / 5_000) + 0.01 * noise.random(),
        "lr": 0.0003 * 0.5 * (1 + math.cos(step / 20_000 * math.pi)),
        "grad_norm": 1 + noise.random(),
        "epoch": step // 390,
    }


def two(step: int, noise: random.Random) -> dict[str, float]:
    return {
        "loss": 2.3 * math.exp(-step / 500) + 0.1 * noise.random(),
        "acc": 1 - math.exp(-step / 500) + 0.01 * noise.random(),
    }


def rows(run: int, steps: int) -> Iterator[dict[str, float]]:
    noise = random.Random(run)
    return (two(step, noise) for step in range(steps))


def runs(count: int, steps: int) -> Iterator[tuple[str, Iterator[dict[str, float]]]]:
    return ((f"run-{number:05d}", rows(number, steps)) for number in range(count))


def disk_bytes(home: Path) -> int:
    return sum(path.lstat().st_size for path in home.rglob("*") if path.is_file() and not path.is_symlink())

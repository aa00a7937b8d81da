"""What can be drawn, from which column, in which unit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from paddock.errors import UsageError


class Metric(NamedTuple):
    name: str
    column: str  # of the `usage` records
    title: str
    unit: str  # "%", "B", "B/s" or ""


METRICS = (
    Metric("cpu", "cpu", "CPU", "%"),
    Metric("memory", "rss", "memory", "B"),
    Metric("gpu", "gpu", "GPU", "%"),
    Metric("gpu-memory", "gpu_memory", "GPU memory", "B"),
    Metric("read", "read", "read from disks", "B/s"),
    Metric("write", "write", "written to disks", "B/s"),
    Metric("threads", "threads", "threads", ""),
    Metric("shared", "shared", "shared memory", "B"),
)
_ALWAYS = ("cpu", "memory")
_IF_USED = ("gpu", "gpu-memory")
NAMES = tuple(metric.name for metric in METRICS)


def possible(names: Sequence[str]) -> list[Metric]:
    """The metrics that were asked for, else those that may be drawn unasked."""
    if unknown := [name for name in names if name not in NAMES]:
        raise UsageError(f"There is no usage of {unknown[0]!r}.", hint=f"It is one of {', '.join(NAMES)}.")
    return [metric for metric in METRICS if metric.name in (names or (*_ALWAYS, *_IF_USED))]


def chosen(names: Sequence[str], used: Callable[[str], bool]) -> list[Metric]:
    """The metrics that were asked for, else processors, memory and, where they are used, GPUs."""
    return [metric for metric in possible(names) if names or metric.name in _ALWAYS or used(metric.name)]


def shown(value: float, unit: str) -> str:
    """12 %, 3.4 GiB, 12 MiB/s: three digits."""
    if unit == "%":
        return f"{value:.0f} %"
    if not unit:
        return f"{value:.0f}"
    for prefix in ("", "Ki", "Mi", "Gi", "Ti"):
        if abs(value) < 999.5 or prefix == "Ti":
            break
        value /= 1024
    digits = 0 if not prefix or abs(value) >= 99.5 else 1
    return f"{value:.{digits}f} {prefix}{unit}"

"""What a worker can run at once: slots, and the GPUs it was given. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from paddock.errors import UsageError
from paddock.queue.task import Task


class Slots(NamedTuple):
    """What is free now."""

    tasks: int
    gpus: tuple[str, ...]

    def fits(self, task: Task) -> bool:
        return self.tasks >= 1 and len(self.gpus) >= task.gpus

    def take(self, task: Task) -> tuple[Slots, tuple[str, ...]]:
        """What is left, and the GPUs that the task gets."""
        given = self.gpus[: task.gpus]
        return Slots(self.tasks - 1, self.gpus[task.gpus :]), given

    def give_back(self, gpus: tuple[str, ...]) -> Slots:
        return Slots(self.tasks + 1, tuple(sorted((*self.gpus, *gpus))))


def from_options(gpus: str | None, slots: int | None, environ: Mapping[str, str]) -> Slots:
    """As many slots as GPUs, unless told; the GPUs are those of CUDA_VISIBLE_DEVICES, unless told."""
    text = gpus if gpus is not None else environ.get("CUDA_VISIBLE_DEVICES", "")
    devices = tuple(part.strip() for part in text.split(",") if part.strip() and part.strip() != "-1")
    if len(set(devices)) != len(devices):
        raise UsageError(f"--gpus {text} names a GPU twice.")
    if slots is not None and slots < 1:
        raise UsageError(f"--slots {slots} leaves no room for a task.", hint="It is 1 or more.")
    # Without --gpus one task at a time gets all that is visible, as when it is started by hand.
    return Slots(slots or (len(devices) if gpus is not None and devices else 1), devices)


def visible(task: Task, given: tuple[str, ...], most: int) -> str | None:
    """CUDA_VISIBLE_DEVICES for the task; None leaves it as the worker has it. A task that asked for no GPU shares the
    worker's only when nobody else is there to be disturbed."""
    if task.gpus:
        return ",".join(given)
    return None if most == 1 else ""

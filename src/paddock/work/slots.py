"""What a worker can run at once: slots, and the GPUs, cores and memory it was given. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from paddock.errors import UsageError
from paddock.queue.task import Task

_GPU = re.compile(r"\d+|(GPU|MIG)-[A-Za-z0-9/-]+")  # as CUDA knows it: its number or its uuid, or a part of one


class Demand(NamedTuple):
    """What a task needs beside a slot."""

    gpus: int = 0
    cpus: int = 0
    mem: int = 0  # bytes


def demand(task: Task) -> Demand:
    return Demand(task.gpus, task.cpus, task.mem)


def needs(task: Task) -> str:
    """In words."""
    parts = [f"{task.gpus} GPUs" if task.gpus else "", f"{task.cpus} cores" if task.cpus else ""]
    parts.append(f"{task.mem / (1 << 30):.3g} GB" if task.mem else "")
    return ", ".join(part for part in parts if part) or "a slot"


class Slots(NamedTuple):
    """What is free now. Cores and memory are counted only where somebody said how much there is."""

    tasks: int
    gpus: tuple[str, ...]
    cpus: int | None = None
    mem: int | None = None
    share: int | None = None  # GPUs that a task gets which asked for none; None leaves it what the worker sees

    def fits(self, needs: Demand | Task) -> bool:
        return (
            self.tasks >= 1
            and len(self.gpus) >= needs.gpus
            and (self.cpus is None or self.cpus >= needs.cpus)
            and (self.mem is None or self.mem >= needs.mem)
        )

    def take(self, task: Task, chosen: tuple[str, ...] = ()) -> tuple[Slots, tuple[str, ...]]:
        """What is left, and the GPUs that the task gets: the chosen ones, or the first. One that asked for none waits
        for none either: it gets what is free of its share."""
        given = chosen or self.gpus[: task.gpus or self.share or 0]
        return self._counted(task, -1, tuple(gpu for gpu in self.gpus if gpu not in given)), given

    def give_back(self, task: Task, gpus: tuple[str, ...]) -> Slots:
        return self._counted(task, 1, tuple(sorted((*self.gpus, *gpus))))

    def _counted(self, task: Task, sign: int, gpus: tuple[str, ...]) -> Slots:
        return Slots(
            self.tasks + sign,
            gpus,
            self.cpus + sign * task.cpus if self.cpus is not None else None,
            self.mem + sign * task.mem if self.mem is not None else None,
            self.share,
        )


def from_options(
    gpus: str | None,
    slots: int | None,
    environ: Mapping[str, str],
    cpus: int | None = None,
    mem: int | None = None,
) -> Slots:
    """As many slots as GPUs, unless told; the GPUs are those of CUDA_VISIBLE_DEVICES, unless told."""
    text = gpus if gpus is not None else environ.get("CUDA_VISIBLE_DEVICES", "")
    devices = tuple(part.strip() for part in text.split(",") if part.strip() and part.strip() != "-1")
    if gpus is not None and (odd := next((name for name in devices if not _GPU.fullmatch(name)), "")):
        raise UsageError(f"--gpus {text}: {odd!r} is no GPU.", hint="Name them by number, as in --gpus 0,1; or all.")
    if len(set(devices)) != len(devices):
        raise UsageError(f"--gpus {text} names a GPU twice.")
    if slots is not None and slots < 1:
        raise UsageError(f"--slots {slots} leaves no room for a task.", hint="It is 1 or more.")
    # Without --gpus one task at a time gets all that is visible, as when it is started by hand.
    tasks = slots or (len(devices) if gpus is not None and devices else 1)
    # With it a slot has its GPUs, whoever is in it: most people's tasks do not say that they need one.
    return Slots(tasks, devices, cpus, mem, len(devices) // tasks if gpus is not None else None)


def visible(task: Task | Demand, given: tuple[str, ...], share: int | None) -> str | None:
    """CUDA_VISIBLE_DEVICES for the task; None leaves it as the worker has it, which tasks inherit. Where GPUs are given
    out, a task without any must not disturb those who have them."""
    if given or task.gpus:
        return ",".join(given)
    return None if share is None else ""

"""The launcher of an engine, by the scheme of its URL. Each is imported when it is wanted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from paddock.errors import UsageError
from paddock.queue.engine import FROZEN, Engine
from paddock.queue.task import Task
from paddock.record.layout import Home
from paddock.work.launcher import Fleet, Launcher


def refuse_wrong(engine: Engine, told: Mapping[str, object]) -> None:
    """Before anything is queued: UsageError, with a sentence, for what this engine cannot be told of a task."""
    if engine.scheme == "slurm":
        from paddock.work.slurm.script import told_of

        told_of({}, dict(engine.options))
        told_of(told, {})
    elif engine.scheme == "k8s":
        from paddock.work.kubernetes.launcher import options

        options(engine, told)


def frozen(engine: Engine) -> dict[str, Any]:
    """What a task takes with it for this engine: the words of paddock.toml as they are now. Who has its job started
    later may stand elsewhere."""
    if engine.scheme == "k8s":
        from paddock.work.kubernetes.launcher import table

        return {FROZEN: table()}
    return {}


def fleet(engine: Engine, home: Home, queue: str, each: Task, slots: int) -> Fleet:
    """The workers of a queue on an engine; `each` says what one of them needs."""
    if engine.scheme == "slurm":
        from paddock.work.slurm.pilots import SlurmFleet

        return SlurmFleet(engine, home, queue, each, slots)
    if engine.scheme == "k8s":
        from paddock.work.kubernetes.pilots import KubernetesFleet

        return KubernetesFleet(engine, home, queue, each, slots)
    raise UsageError(f"{engine.url} cannot be scaled yet.", hint="paddock scale slurm")


def launcher(engine: Engine, home: Home) -> Launcher:
    if engine.scheme == "slurm":
        from paddock.work.slurm.launcher import SlurmLauncher

        return SlurmLauncher(engine, home)
    if engine.scheme == "k8s":
        from paddock.work.kubernetes.launcher import KubernetesLauncher

        return KubernetesLauncher(engine, home)
    raise UsageError(f"{engine.url} cannot be used yet: there is no launcher for {engine.scheme}.")

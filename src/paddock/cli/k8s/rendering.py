"""What `paddock submit --dry-run` shows of tasks for Kubernetes: the objects that would be sent."""

from __future__ import annotations

from collections.abc import Sequence

from paddock.cli.command import Session
from paddock.cli.k8s.run import show
from paddock.queue.engine import Engine
from paddock.queue.task import Task
from paddock.record.layout import Home
from paddock.work.kubernetes.launcher import KubernetesLauncher

_SHOWN = 3  # tasks of a sweep whose objects are printed; --json has them all


def show_objects(session: Session, home: Home, engine: Engine, tasks: Sequence[Task]) -> int:
    """How many are not shown."""
    launcher = KubernetesLauncher(engine, home)
    shown = tasks[:_SHOWN] if session.out.human else tasks
    show(session, launcher.client, [one for task in shown for one in launcher.render(engine.queue, task)])
    return len(tasks) - len(shown)

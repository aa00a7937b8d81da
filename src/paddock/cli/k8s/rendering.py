"""What `paddock submit --dry-run` shows of tasks for Kubernetes: the objects that would be sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from paddock.cli.command import Session
from paddock.cli.k8s.run import show
from paddock.compare.text import many
from paddock.queue import engine as engines
from paddock.queue.entry.submission import make_task
from paddock.record.layout import Home
from paddock.work.kubernetes.launcher import KubernetesLauncher

_SHOWN = 3  # tasks of a sweep whose objects are printed; --json has them all


def show_tasks(session: Session, home: Home, url: str, tasks: Sequence[Mapping[str, Any]]) -> None:
    engine = engines.parse(url)
    launcher = KubernetesLauncher(engine, home)
    shown = tasks[:_SHOWN] if session.out.human else tasks
    objects = [one for about in shown for one in launcher.render(engine.queue, _task(home, about))]
    show(session, launcher.client, objects)
    left = len(tasks) - len(shown)
    session.out.note(
        f"{many(len(tasks), 'task')} would be submitted" + (f"; {left} more are not shown." if left else ".")
    )


def _task(home: Home, about: Mapping[str, Any]) -> Any:
    """As it would be queued, without its code and what it waits for."""
    known = {key: value for key, value in about.items() if key not in ("cmd", "snapshot", "after", "chk")}
    return make_task(about["cmd"], base=home.queues, **known)

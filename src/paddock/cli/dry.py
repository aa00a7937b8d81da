"""What `paddock submit --dry-run` shows of tasks for an engine: what would be sent to it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from paddock.cli.command import Session
from paddock.compare.text import many
from paddock.queue import engine as engines
from paddock.queue.directory import find_queue
from paddock.queue.entry.submission import make_task
from paddock.queue.task import Task
from paddock.record.layout import Home


def show_tasks(session: Session, home: Home, url: str, tasks: Sequence[Mapping[str, Any]]) -> None:
    engine = engines.parse(url)
    show = _scripts if engine.scheme == "slurm" else _objects
    left = show(session, home, engine, [_task(home, about) for about in tasks])
    session.out.note(
        f"{many(len(tasks), 'task')} would be submitted" + (f"; {left} more are not shown." if left else ".")
    )


def _objects(session: Session, home: Home, engine: engines.Engine, tasks: Sequence[Task]) -> int:
    from paddock.cli.k8s.rendering import show_objects

    return show_objects(session, home, engine, tasks)


def _scripts(session: Session, home: Home, engine: engines.Engine, tasks: Sequence[Task]) -> int:
    """The calls of sbatch, and what it would read."""
    from paddock.work.slurm.launcher import SlurmLauncher

    made = [
        (given, text.decode("utf-8", "replace"))
        for given, text in SlurmLauncher(engine, home).render(find_queue(engine.url, home), tasks)
    ]
    session.out.json(
        {
            "tasks": [{"id": task.id, "name": task.name, "command": task.command} for task in tasks],
            "jobs": [{"arguments": given, "script": text} for given, text in made],
        }
    )
    for task in tasks:
        session.out.line(f"# {task.id}: {task.command}")
    for given, text in made:
        for line in ("", f"# sbatch {shlex.join(given)}", *text.splitlines()):
            session.out.line(line)
    return 0


def _task(home: Home, about: Mapping[str, Any]) -> Task:
    """As it would be queued, without its code and what it waits for."""
    known = {key: value for key, value in about.items() if key not in ("cmd", "snapshot", "after", "chk")}
    return make_task(about["cmd"], base=home.queues, **known)

"""Which tasks of a sweep are there already: queued, at work, or done."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from paddock import settings, wire
from paddock.model import RunRow
from paddock.record.layout import Home

_EXISTING = ("queued", "paused", "running", "finished")
_SHELL = ("/bin/sh", "-c")

Likeness = tuple[str, str, str, bytes]  # project, directory, command, config


def without_existing(home: Home, tasks: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Those that no run was submitted as. What counts is what was submitted: a script adds its defaults to the config,
    and may change its project."""
    from paddock.catalog.catalog import Catalog

    if not home.path.is_dir():
        return list(tasks)
    commands = {wire.text(task["cmd"]) for task in tasks}
    with Catalog.open(home) as catalog:
        catalog.refresh()
        runs = [run for run in catalog.runs() if run.state in _EXISTING and run.command[:2] == _SHELL]
    known = set(_as_submitted(home, [run for run in runs if run.command[-1] in commands]))
    return [task for task in tasks if _wanted(task) not in known]


def _wanted(task: Mapping[str, Any]) -> Likeness:
    directory = os.path.abspath(task.get("cwd") or os.getcwd())
    project = task.get("project") or settings.load().project or os.path.basename(directory) or "default"
    return _likeness(project, directory, task["cmd"], task["config"])


def _as_submitted(home: Home, runs: Sequence[RunRow]) -> list[Likeness]:
    from paddock.catalog.card import read_facts

    found, waiting = [], dict[str, list[str]]()
    for run in runs:
        facts, _ = read_facts(str(home.run(run.id).facts))
        if facts:
            found.append(_of_facts(facts))
        else:
            waiting.setdefault(run.queue, []).append(run.id)
    for queue, ids in waiting.items():
        found += map(_of_facts, _facts_in_queue(home, queue, set(ids)))
    return found


def _facts_in_queue(home: Home, queue: str, ids: set[str]) -> list[dict[str, Any]]:
    """Of tasks that nobody has begun yet."""
    from paddock.queue.entry.facts import facts_of
    from paddock.queue.finding import find_queue
    from paddock.queue.show.view import snapshot

    entries = snapshot(find_queue(queue, home)).entries
    return [facts_of(entry.file.task) for entry in entries if entry.id in ids and entry.file is not None]


def _of_facts(facts: Mapping[str, Any]) -> Likeness:
    command = facts.get("command") or [""]
    return _likeness(facts.get("project"), facts.get("cwd"), command[-1], facts.get("config") or {})


def _likeness(project: Any, directory: Any, command: Any, config: Mapping[str, Any]) -> Likeness:
    plain = wire.dumps(wire.plain(dict(sorted(config.items()))).value)
    return wire.text(str(project)), wire.text(str(directory)), wire.text(str(command)), plain

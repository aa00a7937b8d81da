"""Which tasks of a sweep are there already: queued, at work, or done. And how one waits for these."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from paddock import settings, wire
from paddock.model import RunRow
from paddock.queue.protocol import AWAY, Queue
from paddock.record.layout import Home

_FINISHED = "finished"
_EXISTING = ("queued", "paused", "running", _FINISHED)
_SHELL = ("/bin/sh", "-c")

Likeness = tuple[str, str, str, bytes]  # project, directory, command, config


class There(NamedTuple):
    """A run that was submitted before."""

    id: str
    name: str
    queue: str  # "" when its task is in none any more
    check: str  # "" when it is finished, and nothing is left to wait for


def existing(home: Home, tasks: Sequence[Mapping[str, Any]], queue: Queue) -> list[There | None]:
    """For each the newest run that was submitted as it, or None. What counts is what was submitted: a script adds its
    defaults to the config, and may change its project. `queue` is where the others will go."""
    from paddock.catalog.catalog import Catalog

    if not home.path.is_dir():
        return [None] * len(tasks)
    commands = {wire.text(task["cmd"]) for task in tasks}
    with Catalog.open(home) as catalog:
        catalog.refresh()
        runs = [run for run in catalog.runs() if run.state in _EXISTING and run.command[:2] == _SHELL]
    known: dict[Likeness, RunRow] = {}
    for likeness, run in _as_submitted(home, [run for run in runs if run.command[-1] in commands]):
        if likeness not in known or known[likeness].created < run.created:
            known[likeness] = run
    found = [known.get(_wanted(task)) for task in tasks]
    queues = _whose(home, {run.id for run in found if run is not None}, queue)
    return [_there(home, run, queues.get(run.id)) if run is not None else None for run in found]


def _whose(home: Home, ids: set[str], first: Queue) -> dict[str, Queue]:
    """The queue in which each of these is a task; one that was cleaned away is in none."""
    from paddock.queue.finding import known_queues

    whose: dict[str, Queue] = {}
    for queue in (first, *known_queues(home)):
        if len(whose) == len(ids):
            break
        try:
            places = queue.list().places if queue.exists() else []
        except AWAY:
            continue
        for place in places:
            if place.id in ids:
                whose.setdefault(place.id, queue)
    return whose


def _there(home: Home, run: RunRow, queue: Queue | None) -> There:
    if queue is not None:
        return There(run.id, run.name, queue.address, queue.check(run.id))
    if run.state == _FINISHED:
        return There(run.id, run.name, "", "")
    ours = f"paddock ls --home {shlex.quote(str(home.path))} -q state={_FINISHED} id={run.id}"
    return There(run.id, run.name, "", f"{ours} | grep -qxF {run.id}")


def _wanted(task: Mapping[str, Any]) -> Likeness:
    directory = os.path.abspath(task.get("cwd") or os.getcwd())
    project = task.get("project") or settings.load().project or os.path.basename(directory) or "default"
    return _likeness(project, directory, task["cmd"], task["config"])


def _as_submitted(home: Home, runs: Sequence[RunRow]) -> list[tuple[Likeness, RunRow]]:
    from paddock.catalog.card import read_facts

    found, waiting = [], dict[str, dict[str, RunRow]]()
    for run in runs:
        facts, _ = read_facts(str(home.run(run.id).facts))
        if facts:
            found.append((_of_facts(facts), run))
        else:
            waiting.setdefault(run.queue, {})[run.id] = run
    for queue, those in waiting.items():
        found += [(_of_facts(facts), those[run_id]) for run_id, facts in _facts_in_queue(home, queue, set(those))]
    return found


def _facts_in_queue(home: Home, queue: str, ids: set[str]) -> list[tuple[str, dict[str, Any]]]:
    """Of tasks that nobody has begun yet."""
    from paddock.queue.entry.facts import facts_of
    from paddock.queue.finding import find_queue
    from paddock.queue.show.view import snapshot

    entries = snapshot(find_queue(queue, home)).entries
    return [(e.id, facts_of(e.file.task)) for e in entries if e.id in ids and e.file is not None]


def _of_facts(facts: Mapping[str, Any]) -> Likeness:
    command = facts.get("command") or [""]
    return _likeness(facts.get("project"), facts.get("cwd"), command[-1], facts.get("config") or {})


def _likeness(project: Any, directory: Any, command: Any, config: Mapping[str, Any]) -> Likeness:
    plain = wire.dumps(wire.plain(dict(sorted(config.items()))).value)
    return wire.text(str(project)), wire.text(str(directory)), wire.text(str(command)), plain

"""A Slurm job for each task of a queue; tasks with the same needs go as one array.

A job's name is its task's id. An array's name is made up, and the list of its tasks is on the disk before Slurm hears
of it: so each job is found again by its name, whenever we were killed. That a job is this queue's, its comment says.
"""

from __future__ import annotations

import os
import secrets
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from paddock import files
from paddock.errors import Refused, Unreachable, UsageError
from paddock.queue.directory import DirectoryQueue
from paddock.queue.engine import Engine
from paddock.queue.lifecycle import ACTIVE, CHECKING, QUEUED
from paddock.queue.task import Task
from paddock.record.layout import Home
from paddock.work.launcher import Capabilities, Job, JobState, Launched
from paddock.work.slurm import commands, script, states
from paddock.work.slurm.script import Needs

ARRAYS = ".jobs/.arrays"  # in the queue's directory: a file for each array, a task's id in each line
_ARRAY = "paddock-"
_USUAL_ARRAY, _USUAL_KILL_WAIT = 1001, 30
_MOST_GRACE = 30
_MOST_ASKED = 500  # jobs of which sacct is asked in one look
_OPEN = (QUEUED, CHECKING, ACTIVE)
_LOG_BYTES = 2000  # of a job's own log, at its end

SITE, SITE_SECONDS = ".jobs/.site", 86_400.0  # where Slurm's own settings are kept, and for how long


class Site(NamedTuple):
    """What the cluster's settings say."""

    most: int  # elements of one array
    kill_wait: int  # seconds from SIGTERM to SIGKILL


_Group = tuple[Needs, tuple[tuple[str, str], ...]]


class SlurmLauncher:
    def __init__(self, engine: Engine, home: Home) -> None:
        self.engine, self.home = engine, home
        self._options = dict(engine.options)
        script.told_of({}, self._options)
        self._found: dict[str, list[Job]] = {}  # at the last look
        self._known: Site | None = None

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(
            pause=True, output_while_it_runs=True, dependencies=True, preemption=True, shared_disk=True, ranks=True
        )

    # Starting

    def launch(self, queue: DirectoryQueue, tasks: Sequence[Task]) -> list[Launched]:
        (queue.path / script.OUTPUT).mkdir(parents=True, exist_ok=True)
        done: dict[str, Launched] = {}
        waiting = {task.id: task for task in tasks}
        while waiting:
            ready, blocked = self._split(waiting, done)
            done |= blocked
            for group, members in self._grouped(ready, done).items():
                done |= {one.task: one for one in self._start(queue, group, members, bool(done))}
            waiting = {id: task for id, task in waiting.items() if id not in done}
        return [done[task.id] for task in tasks]

    def _split(
        self, waiting: Mapping[str, Task], done: Mapping[str, Launched]
    ) -> tuple[list[Task], dict[str, Launched]]:
        """Parents go first: their children's jobs name them. A circle is cut where it is found."""
        ready = [task for task in waiting.values() if not any(d.task in waiting for d in task.after)]
        ready = ready or list(waiting.values())
        blocked = {
            task.id: Launched(
                task.id, trouble=f"It waits for {parent.task}, which got no job.", later=done[parent.task].later
            )
            for task in ready
            for parent in task.after
            if parent.task in done and not done[parent.task].job
        }
        return [task for task in ready if task.id not in blocked], blocked

    def _grouped(self, tasks: Sequence[Task], done: dict[str, Launched]) -> dict[_Group, list[str]]:
        groups: dict[_Group, list[str]] = {}
        for task in tasks:
            try:
                wants = script.needs(task, self.engine.place, self._options)
            except UsageError as error:
                done[task.id] = Launched(task.id, trouble=str(error))
                continue
            groups.setdefault((wants, self._dependencies(task, done)), []).append(task.id)
        return groups

    def _dependencies(self, task: Task, done: Mapping[str, Launched]) -> tuple[tuple[str, str], ...]:
        """On jobs that may run; what is over already, the worker knows."""
        found = []
        for parent in task.after:
            jobs = [job.id for job in self._found.get(parent.task, ()) if job.state.may_run]
            if parent.task in done and done[parent.task].job:
                jobs = [done[parent.task].job]
            found += [(parent.when, job) for job in jobs[-1:]]
        return tuple(sorted(found))

    def _start(self, queue: DirectoryQueue, group: _Group, tasks: Sequence[str], begun: bool) -> list[Launched]:
        """`begun`: some have a job already, so what goes wrong is told of these alone."""
        found: list[Launched] = []
        most = 1 if len(tasks) == 1 else self._site(queue).most
        few = 0  # once Slurm has said that it is full: how many are tried, twice as many each time
        while left := tasks[len(found) :]:
            part = left[: min(few or most, most)]
            try:
                job = self._submit(queue, group, part)
                numbers = [job] if len(part) == 1 else [f"{job}_{index}" for index in range(len(part))]
                found += map(Launched, part, numbers)
                few *= 2
            except Refused as error:
                if not states.is_full(error.message):
                    found += [Launched(task, trouble=script.advice(error.message)) for task in part]
                elif few or len(part) == 1:
                    found += [Launched(task, trouble=script.full(error.message), later=True) for task in left]
                else:
                    few = 1
            except Unreachable as error:
                if not begun and not found:
                    raise
                found += [Launched(task, trouble=str(error), later=True) for task in left]
        return found

    def _submit(self, queue: DirectoryQueue, group: _Group, tasks: Sequence[str]) -> str:
        name = tasks[0]
        if len(tasks) > 1:
            name = f"{_ARRAY}{secrets.token_hex(6)}"
            arrays = queue.path / ARRAYS
            arrays.mkdir(parents=True, exist_ok=True)
            files.write_once(arrays / name, "".join(f"{task}\n" for task in tasks).encode())
        return commands.submit(*self._rendered(queue, group, tasks, name, self._site(queue)))

    def _rendered(
        self, queue: DirectoryQueue, group: _Group, tasks: Sequence[str], name: str, site: Site
    ) -> tuple[list[str], bytes]:
        """What sbatch is told, and the script that it reads."""
        wants, dependencies = group
        given = script.arguments(wants, name, str(queue.path), comment(queue), len(tasks), dependencies)
        call = [wants.python or sys.executable, "-m", "paddock.cli.only", str(self.home.path)]
        return given, script.script(tasks, call, str(queue.path), wants, name, grace_seconds(site.kill_wait))

    def render(self, queue: DirectoryQueue, tasks: Sequence[Task]) -> list[tuple[list[str], bytes]]:
        """What would be sent for them, as on a cluster whose settings are the usual ones: Slurm is asked nothing."""
        site = self._known or Site(_USUAL_ARRAY, _USUAL_KILL_WAIT)
        found = []
        for group, members in self._grouped(tasks, {}).items():
            for first in range(0, len(members), site.most):
                part = members[first : first + site.most]
                name = part[0] if len(part) == 1 else f"{_ARRAY}ARRAY"
                found.append(self._rendered(queue, group, part, name, site))
        return found

    def _site(self, queue: DirectoryQueue) -> Site:
        """What Slurm's own settings say, asked once a day: a question for each submission would double its price."""
        if self._known is None:
            path = queue.path / SITE
            found = _lines(path) if _age(path) < SITE_SECONDS else []
            if len(found) == 2 and all(text.isdigit() for text in found):
                self._known = Site(*map(int, found))
            else:
                self._known = site(commands.configuration())
                path.parent.mkdir(parents=True, exist_ok=True)
                files.replace(path, "".join(f"{number}\n" for number in self._known).encode())
        return self._known

    # Looking

    def look(self, queue: DirectoryQueue) -> Mapping[str, Sequence[Job]]:
        mine = comment(queue)
        found: dict[str, list[Job]] = {}
        arrays: dict[str, list[str]] = {}
        for row in commands.jobs(os.getuid()):
            if row.comment != mine:
                continue
            task = row.name
            if row.name.startswith(_ARRAY) and row.element is not None:
                if row.name not in arrays:
                    arrays[row.name] = _lines(queue.path / ARRAYS / row.name)
                members = arrays[row.name]
                task = members[row.element] if row.element < len(members) else ""
            if task:
                found.setdefault(task, []).append(Job(task, row.id, row.state, row.about, row.node))
        self._explain(queue, found)
        self._found = found
        return found

    def _explain(self, queue: DirectoryQueue, found: dict[str, list[Job]]) -> None:
        """A job that ended well has removed its log. Of the others Slurm's word is told, and the log's last line."""
        listed = list(_logs(queue))
        if not listed:
            return
        here = {(job.task, job.id): job for jobs in found.values() for job in jobs}
        wanted = {place.id for place in queue.list(_OPEN).places}
        gone = [log for log in listed if (log.task, log.job) not in here and log.task in wanted]
        words = commands.ended([log.job for log in gone[:_MOST_ASKED]])
        for log in listed:
            known = here.get((log.task, log.job))
            if known is not None and known.state is JobState.ENDED:
                told = known._replace(about=f"{known.about}: {last_line(log.path)}")
                found[log.task] = [told if one is known else one for one in found[log.task]]
            elif known is None and log.task in wanted:
                about = f"{words.get(log.job, '')}: {last_line(log.path)}".removeprefix(": ")
                found.setdefault(log.task, []).insert(0, Job(log.task, log.job, JobState.ENDED, about))

    # Ending

    def end(self, queue: DirectoryQueue, jobs: Sequence[Job]) -> None:
        commands.cancel([job.id for job in jobs if job.state.may_run])


def site(configuration: str) -> Site:
    """Out of `scontrol show config`; what is not there is as Slurm has it by itself."""
    most, wait = (states.setting(configuration, name).split() for name in ("MaxArraySize", "KillWait"))
    return Site(
        max(int(most[0]) if most and most[0].isdigit() else _USUAL_ARRAY, 1),
        int(wait[0]) if wait and wait[0].isdigit() else _USUAL_KILL_WAIT,
    )


def grace_seconds(wait: int) -> int:
    """For a task to end: shorter than Slurm's own patience, so that the worker can still give it back."""
    return max(min(wait - 10 if wait >= 20 else wait // 2, _MOST_GRACE), 1)


def _age(path: Path) -> float:
    try:
        return time.time() - os.stat(path).st_mtime
    except OSError:
        return float("inf")


def comment(queue: DirectoryQueue) -> str:
    """By which its jobs are known among all of a user's."""
    return f"paddock:{blake2b(os.fsencode(os.path.realpath(queue.path)), digest_size=8).hexdigest()}"


class Log(NamedTuple):
    """What a job that did not end well has printed."""

    task: str
    job: str
    path: Path


def _logs(queue: DirectoryQueue) -> Iterator[Log]:
    arrays: dict[str, list[str]] = {}
    for entry in files.entries(queue.path / script.OUTPUT):
        name, _, job = entry.name.removesuffix(".log").rpartition("-")
        task = name
        if name.startswith(_ARRAY):
            if name not in arrays:
                arrays[name] = _lines(queue.path / ARRAYS / name)
            index = job.partition("_")[2]
            task = arrays[name][int(index)] if index.isdigit() and int(index) < len(arrays[name]) else ""
        if task:
            yield Log(task, job, queue.path / script.OUTPUT / entry.name)


def _lines(path: Path) -> list[str]:
    try:
        return files.read_from(path, 0).decode("utf-8", "replace").split()
    except OSError:
        return []


def last_line(path: Path) -> str:
    try:
        text = files.read_from(path, max(os.stat(path).st_size - _LOG_BYTES, 0)).decode("utf-8", "replace")
    except OSError:
        return "its log cannot be read"
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "it printed nothing"

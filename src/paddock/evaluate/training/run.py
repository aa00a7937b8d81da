"""The training run that a checkpoint belongs to: found from its directory, or made; and scores written into it."""

from __future__ import annotations

import os
import re
import shlex
import time
from collections.abc import Iterable, Mapping
from functools import cached_property, lru_cache
from hashlib import blake2b
from typing import Any

from paddock import files, wire
from paddock.evaluate.origin.place import is_url, real
from paddock.evaluate.training import working
from paddock.model import RUNNING, RunRow
from paddock.record.journal import Journal, writer_name
from paddock.record.layout import Home, RunDirectory
from paddock.track.values import row_value
from paddock.version import __version__

_NAME = re.compile(r"(?=.*[^\W\d_])\w[\w .,+@=-]{0,200}")  # of a directory, if one is called so
_MADE = "watched-"  # how the ids begin of runs for trainers that do not use Paddock


class Index:
    """Which runs name which places, so that many directories can be looked up at once."""

    def __init__(self, home: Home, runs: Iterable[RunRow]) -> None:
        self._home = home
        self._runs = os.path.realpath(home.runs)
        self._rows = list(runs)
        self._whole: dict[str, list[int]] = {}  # an absolute path or a URL -> the numbers of the runs that name it
        self._ends: dict[str, list[int]] = {}  # the same for relative ones: the end of a place
        self._placed: dict[str, tuple[dict[str, list[int]], list[int]]] = {}  # such an end -> see `_meant`
        self._others: list[RunRow] = []  # the newest that may name nothing
        for number, run in enumerate(self._rows):
            if run.job_type == "eval":  # its words are of the checkpoint
                continue
            if len(self._others) < working.NEWEST and not is_made(run.id):
                self._others.append(run)
            for word in _words(run):
                if is_url(word) or os.path.isabs(word):
                    self._whole.setdefault(_real(word), []).append(number)
                    continue
                self._ends.setdefault(os.path.normpath(word), []).append(number)
                # Of those that run also what lies below: there are few of them.
                if run.state == RUNNING and (place := working.below(home, run, word)):
                    self._whole.setdefault(place, []).append(number)

    def find(self, directory: str) -> str:
        """The id of the run whose directory this is in, or that names it (or one above it) in its config or command,
        or that worked above it when its checkpoints came; "" when there is none."""
        place = real(directory)
        inside = os.path.relpath(place, self._runs).split(os.sep)
        if inside[0] not in ("..", ".") and not is_url(place):
            return inside[0]
        parts = place.split(os.sep)
        above = [os.sep.join(parts[:count]) for count in range(len(parts), 0, -1)]
        ends = [os.sep.join(parts[count:]) for count in range(len(parts))]
        # With how much of the place they name: what lies below --data /data may be of another run, which names it.
        fitting = {n: len(path) for path in reversed(above) if len(path) > 1 for n in self._whole.get(path, ())}
        unsure: set[int] = set()
        for meant, unknown in map(self._meant, ends):
            for path in filter(None, above):
                fitting |= {n: max(len(path), fitting.get(n, 0)) for n in meant.get(path, ())}
            unsure.update(unknown)

        def rank(number: int) -> tuple[bool, int, bool, int]:
            """The one that runs now goes before those that are over, then the newest: the catalog lists those first."""
            run = self._rows[number]
            return is_made(run.id), -fitting.get(number, 0), run.state != RUNNING, number

        best = min(fitting or unsure, key=rank, default=None)
        found = self._rows[best].id if best is not None else ""
        if (not found or is_made(found)) and not is_url(place):
            only = working.only_one(place, self._worked, _words)
            found = only.id if only is not None else found
        return found

    @cached_property
    def _worked(self) -> list[tuple[str, RunRow]]:
        return working.places(self._home, self._others)

    def _meant(self, end: str) -> tuple[dict[str, list[int]], list[int]]:
        """What the runs that name this relative path mean by it, as far as that is known; and the others: one that
        means another directory, of the same name, is none of them."""
        if end not in self._placed:
            meant: dict[str, list[int]] = {}
            unknown: list[int] = []
            for number in self._ends.get(end, ()):
                place = working.meant(self._home, self._rows[number], end)
                meant.setdefault(place, []).append(number)
                if _is_sure(end) and not (place and os.path.isdir(place)):
                    unknown.append(number)
            self._placed[end] = meant, unknown
        return self._placed[end]


def find(home: Home, directory: str, runs: Iterable[RunRow]) -> str:
    return Index(home, runs).find(directory)


def is_made(run_id: str) -> bool:
    """Whether a run is only a place for scores: it says nothing of the training itself."""
    return run_id.startswith(_MADE)


def make(home: Home, directory: str) -> str:
    """A run for a trainer that does not use Paddock: the scores need a place. The same for all watchers of it."""
    place = real(directory)
    run = home.run(f"{_MADE}{blake2b(os.fsencode(place), digest_size=5).hexdigest()}")
    run.journals.mkdir(parents=True, exist_ok=True)
    facts = {
        "v": 1,
        "id": run.id,
        "name": wire.text(os.path.basename(place)),
        "project": wire.text(os.path.basename(os.path.dirname(place))) or "default",
        "job_type": "train",
        "tags": [],
        "notes": "",
        "created": round(time.time(), 6),
        "config": {"directory": wire.text(place)},
        "command": [],
        "cwd": wire.text(place),
        "host": {"name": os.uname().nodename},
        "parent": None,
    }
    if files.write_once(run.facts, wire.dumps(facts)):
        journal = _journal(run, "main", 1)
        journal.append_now({"k": "end", "code": 0, "reason": "finished"})
        journal.sync()
        journal.close()
    return run.id


def write_points(
    home: Home, run_id: str, numbers: Mapping[str, int | float], step: int, note: Mapping[str, Any]
) -> None:
    """Scores at their step, on the disk when this returns. `note` says which checkpoint and evaluation they are of."""
    journal = _journal(home.run(run_id), "annotation", 0)
    try:
        names = tuple(numbers)
        if names:
            columns = journal.column_set(names, {}, names)
            moment = round((time.time() - journal.started) * 1000)
            journal.write(wire.row_line([columns.id, step, moment, *(row_value(v) for v in numbers.values())]))
        journal.append_now({"k": "mark", "step": step, "name": "evaluation", "data": dict(note)})
        journal.append_now({"k": "end", "code": 0, "reason": "finished"})
        journal.sync()
    finally:
        journal.close()


def _journal(run: RunDirectory, role: str, attempt: int) -> Journal:
    name = writer_name()
    header = {
        "run": run.id,
        "writer": name,
        "role": role,
        "host": os.uname().nodename,
        "pid": os.getpid(),
        "rank": None,
        "world": None,
        "attempt": attempt,
        "paddock": __version__,
    }
    run.journals.mkdir(parents=True, exist_ok=True)
    return Journal(run.journals / f"{name}.jsonl", header)


def _texts(run: RunRow) -> Iterable[str]:
    yield from run.command
    if len(run.command) == 3 and run.command[1] == "-c":  # a shell's: what a task runs
        yield from _shell_words(run.command[2])
    pending: list[Any] = [run.config]
    while pending:
        value = pending.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, Mapping):
            pending += value.values()
        elif isinstance(value, (list, tuple)):
            pending += value


def _shell_words(text: str) -> list[str]:
    """Quotes are seldom, and looking for them takes long: there may be a hundred thousand runs."""
    if not any(quote in text for quote in "'\"\\"):
        return text.split()
    try:
        return shlex.split(text, comments=True)
    except ValueError:  # a quote that nobody closes
        return text.split()


def _words(run: RunRow) -> set[str]:
    """What may be a place: the values of options, and words by themselves."""
    words = (text.rpartition("=")[2] if text.startswith("-") else text for text in _texts(run))
    return {word for word in words if _is_sure(word) or _NAME.fullmatch(word)}


def _is_sure(word: str) -> bool:
    """Whether it is a place also when nobody knows where the run worked."""
    return len(word) > 1 and ("/" in word or "\\" in word or word.isidentifier())


@lru_cache(10_000)
def _real(place: str) -> str:
    return real(place)

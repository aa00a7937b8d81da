"""What one `paddock watch`, or one table of paddock.toml, asks for: checked, and ready to be kept."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple

import paddock
from paddock import wire
from paddock.cli.command import Session
from paddock.cli.watch.rules import Records, joined, refuse_urls, rules_of
from paddock.cli.watch.shown import near
from paddock.compare.source import source
from paddock.errors import UsageError
from paddock.evaluate.completeness.rule import Rule
from paddock.evaluate.evaluators import calling, naming
from paddock.evaluate.evaluators import evaluator as evaluators
from paddock.evaluate.evaluators.evaluator import Evaluator
from paddock.evaluate.ledger.book import Ledger
from paddock.evaluate.ledger.watches import remember
from paddock.evaluate.origin.place import is_url, real
from paddock.evaluate.origin.scan import compile_pattern
from paddock.evaluate.policy.trainer import Trainings
from paddock.evaluate.training.parentage import Parentage
from paddock.evaluate.training.steps import compile_rule
from paddock.evaluate.watching import awaited, globs, itself, nesting
from paddock.evaluate.watching.options import Options
from paddock.evaluate.watching.watch import Watching
from paddock.model import RunRow
from paddock.queue.directory import DirectoryQueue
from paddock.queue.finding import find_queue
from paddock.queue.protocol import Queue
from paddock.queue.redis.address import is_redis
from paddock.queue.redis.queue import RedisQueue
from paddock.record.layout import Home

_NOTES = 5  # at most, of one kind
_NOT_THEIRS = ('  File "<frozen ', f'  File "{os.path.dirname(paddock.__file__)}{os.sep}')  # in a traceback


class Plan(NamedTuple):
    roots: tuple[str, ...]
    options: Options
    queue: Queue
    interval: float
    workers: int  # evaluations at once in a worker of our own; 0 leaves them to others
    training: Callable[[str], str]
    trainings: Trainings
    setup: Mapping[str, Any]  # the same in words, so that somebody can look again later
    notes: tuple[str, ...] = ()  # on what was asked for
    globs: Mapping[str, tuple[str, ...]] = {}  # patterns, each with the directories that fit it now

    def without(self, roots: Container[str], patterns: Container[str]) -> Plan:
        left = {pattern: fitting for pattern, fitting in self.globs.items() if pattern not in patterns}
        return self._replace(roots=tuple(root for root in self.roots if root not in roots), globs=left)

    @property
    def awaited(self) -> list[str]:
        """The paths that are not there yet."""
        return [globs.path_of(pattern) for pattern in self.globs if _is_awaited(pattern, self.globs)]

    def at(self, roots: Sequence[str]) -> Plan:
        """The same for directories that have come since."""
        return self._replace(roots=tuple(roots), globs={})

    def remarks(self, home: Home) -> list[str]:
        """What is worth a word before it begins."""
        found = [
            text for root in self.roots for text in calling.remarks(Ledger.if_any(home, root), self.options.evaluators)
        ]
        return list(dict.fromkeys([*self.notes, *found]))

    def watches(self, home: Home, say: Callable[[str], None], *, late: bool = False) -> list[Watching]:
        """`late`: they were not there when the watch began, so that nothing in them was there before."""
        names = [one.name for one in self.options.evaluators]
        for root in self.roots if self.options.existing else ():
            Ledger.if_any(home, root).forget_passed_over(names)
        found = []
        for root in self.roots:
            new = names if late else self._late(home, root)
            found.append(
                Watching(home, root, self.queue, self.options, self.training, say, self.trainings, late=frozenset(new))
            )
            remember(found[-1].ledger, {"v": 1, **self.setup})
        return found

    def _late(self, home: Home, root: str) -> Iterable[str]:
        """The evaluators that have watched the pattern before this directory was there to fit it."""
        patterns = (pattern for pattern, fitting in self.globs.items() if root in fitting)
        return {name for pattern in patterns for name in globs.late(home, pattern, self.options.evaluators)}

    def remember_globs(self, home: Home) -> None:
        """That they have been watched, once the directories that fit now have been looked at."""
        for pattern in self.globs:
            globs.remember(home, pattern, self.options.evaluators)


def make_plan(session: Session, home: Home, given: Mapping[str, Any]) -> Plan:
    """From the values of the options; every mistake in them is a sentence, and nothing has begun yet."""
    given = joined(given)
    is_verb = not given["evaluator"] and not given["command"]  # it may be one
    fitting, patterns = _roots([*given["directories"], *given["directory"]], is_verb)
    roots, notes = _outer(fitting)
    bases = dict.fromkeys(globs.base_of(one) for one in patterns)
    notes += tuple(awaited.remark(base, near) for base in bases if not os.path.isdir(base))
    chosen = _evaluators(given["evaluator"], given["command"])
    options = Options(
        pattern=compile_pattern(given["regex_filter"]),
        evaluators=chosen,
        existing=given["eval_existing"],
        quiet=given["quiet_time"],
        complete=Rule(tuple(given["marker"]), given["complete_command"] or "").check(),
        step_rule=compile_rule(given["step_rule"]) if given["step_rule"] else None,
        download=not given["no_download"],
        timeout=given["timeout"] or 0.0,
        retries=given["retries"],
        gpus=given["gpus"],
        isolate=given["isolate"],
        rules=rules_of(given, tuple(one.name for one in chosen)),
    )
    refuse_urls(options.rules, roots)
    home.prepare()
    queue = find_queue(_queue_named(given), home)
    _refuse_engine(queue)
    if isinstance(queue, RedisQueue):
        queue.hand_on()
    queue.prepare()
    workers = 0 if given["no_worker"] else given["num_eval_workers"]
    run = _run(session, given["run"])
    return Plan(
        tuple(roots),
        options,
        queue,
        given["polling_interval"],
        workers,
        _training_runs(home, run),
        Records(source(home), run).trainings(),
        _setup(given, chosen, queue),
        notes,
        patterns,
    )


def _queue_named(given: Mapping[str, Any]) -> str:
    """A queue, or the one of that name in the Redis that assayer's options name."""
    name, host, port = str(given["queue"]), given.get("redis_host"), given.get("redis_port")
    if not host and not port:
        return name
    if is_redis(name) or "/" in name:
        raise UsageError(f"--queue {name} and --redis-host are two places.", hint="One of them is enough.")
    return f"redis://{host or 'localhost'}:{port or 6379}/0?queue={name}"


def _refuse_engine(queue: Queue) -> None:
    """Its jobs are started by whoever looks at it, and a watch looks at checkpoints."""
    engine = queue.runner if isinstance(queue, DirectoryQueue) else None
    if engine is not None:
        raise UsageError(
            f"{engine.url} runs a job for each task, and evaluations want workers.",
            hint=f"`paddock scale {engine.scheme} evaluation` has it start them: watch with -Q evaluation --no-worker.",
        )


def _setup(given: Mapping[str, Any], chosen: Sequence[Evaluator], queue: Queue) -> dict[str, Any]:
    """The options by their names, as they can be given from anywhere."""
    return {
        **{name: value for name, value in given.items() if name not in ("directories", "directory")},
        "evaluator": [f"{one.name}:{one.call['function']}" for one in chosen if "function" in one.call],
        "command": [f"{one.name}: {one.call['command']}" for one in chosen if "command" in one.call],
        "queue": queue.address,
        "redis_host": None,  # they are in the queue's address
        "redis_port": None,
        "names": [one.name for one in chosen],
        "cwd": wire.text(os.getcwd()),  # where modules are found, and commands run
    }


def _evaluators(functions: Sequence[str], commands: Sequence[str]) -> tuple[Evaluator, ...]:
    found = _named(functions, commands)
    if not found:
        raise UsageError("Nothing evaluates the checkpoints.", hint="Give --evaluator file.py:function or --command.")
    names = [one.name for one in found]
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise UsageError(
            f"Two evaluators are called {twice}.",
            hint="Give one of them another name: --evaluator NAME:file.py:fn, --command 'NAME: ...'.",
        )
    for one in found:
        if "function" in one.call:
            # In a process of its own: what it imports is not ours to keep, and may take its time.
            command = [sys.executable, "-m", "paddock.evaluate.call", "--check", one.call["function"]]
            checked = subprocess.run(command, capture_output=True, text=True, check=False)
            if checked.returncode:
                raise UsageError(_last_words(checked.stderr) or f"{one.call['function']} cannot be loaded.")
    return tuple(found)


def _named(functions: Sequence[str], commands: Sequence[str]) -> list[Evaluator]:
    found: list[Evaluator] = []
    given: list[bool] = []
    for spec in functions:
        # A file may be called so, colon and all.
        name, rest = ("", spec) if os.path.isfile(os.path.expanduser(spec.rpartition(":")[0])) else naming.split(spec)
        if rest.isidentifier():  # file:fn, without the .py: what is wrong with it is said below
            name, rest = "", spec
        found.append(evaluators.function(rest, name))
        given.append(bool(name))
    for text in commands:
        name, rest = naming.split(text)
        found.append(evaluators.command(rest, name or naming.of_command(rest)))
        given.append(bool(name))
    return naming.apart(found, given)


def _last_words(text: str) -> str:
    """Our own sentence, or the end of a traceback, without the frames through which Python and we came to the file."""
    lines = [line for line in text.strip().splitlines() if line.strip()]
    if lines and lines[-1].startswith("paddock: "):
        return lines[-1].removeprefix("paddock: ")
    frames = [number for number, line in enumerate(lines) if line.startswith('  File "')]
    theirs = [number for number in frames if not lines[number].startswith(_NOT_THEIRS)]
    first = next((number for number in theirs if number >= len(lines) - 6), max(0, len(lines) - 6))
    return "The evaluator cannot be loaded:\n" + "\n".join(lines[first:]) if lines else ""


def _is_awaited(pattern: str, patterns: Mapping[str, Sequence[str]]) -> bool:
    return bool(globs.path_of(pattern)) and not patterns[pattern]


def _roots(given: Sequence[str], is_verb: bool) -> tuple[list[str], dict[str, tuple[str, ...]]]:
    """The directories; and the patterns among what was given, each with those that fit it. A path that is not there
    yet is a pattern that nothing fits."""
    if not given:
        raise UsageError(
            "Which directory is to be watched?",
            hint="paddock watch DIRECTORY --evaluator file.py:fn, or [[watch]] tables in paddock.toml.",
        )
    found: list[str] = []
    patterns: dict[str, tuple[str, ...]] = {}
    for text in given:
        if is_url(text):
            found.append(real(text))
            continue
        expanded = os.path.expanduser(text)
        # One that is called so before those that fit: a sweep may call its directories lr=[0.1].
        if os.path.isdir(expanded):
            itself.check(expanded, [expanded])
            found.append(os.path.abspath(expanded))
            continue
        pattern = globs.pattern_of(text)
        verb = get_close_matches(text, ("ls", "show", "stop", "rescan"), 1) if is_verb else []
        if verb:
            raise UsageError(f"There is no directory {text}.", hint=f"Did you mean `paddock watch {verb[0]}`?")
        awaited.check(globs.base_of(pattern), text)
        patterns[pattern] = tuple(globs.expand(pattern)[0])
        itself.check(text, patterns[pattern])
        found += patterns[pattern]
    # Of two names for one, the first.
    return list({real(path): path for path in reversed(found)}.values())[::-1], patterns


def _outer(roots: list[str]) -> tuple[list[str], tuple[str, ...]]:
    """Without those that lie inside of others: each checkpoint there would be evaluated twice."""
    inner = nesting.inner({real(root): root for root in roots})
    notes = [
        f"{near(name)} is watched with {near(above)}, in which it lies, and not once more."
        for name, above in inner.items()
    ]
    more = (f"So are {len(notes) - _NOTES:,} others.",) if len(notes) > _NOTES else ()
    return [root for root in roots if root not in inner], (*notes[:_NOTES], *more)


def _run(session: Session, name: str | None) -> str:
    """The id of the training run, when it was said outright."""
    if name is None:
        return ""
    with session.catalog() as catalog:
        return catalog.run(name).id


def _training_runs(home: Home, run: str) -> Callable[[str], str]:
    if run:
        return lambda path: run

    def runs() -> list[RunRow]:
        with source(home).catalog() as catalog:
            catalog.refresh()
            return list(catalog.runs())

    return Parentage(home, runs)

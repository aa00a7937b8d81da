"""The options of a watch that say what is evaluated, what is kept, and when it ends."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from typing import Any

import click

from paddock.amounts import seconds_in
from paddock.compare.source import Source
from paddock.compare.stats import goal_of
from paddock.errors import PaddockError, UsageError
from paddock.evaluate.origin.place import is_url
from paddock.evaluate.policy.rules import GOALS, Rules, stop_when
from paddock.evaluate.policy.trainer import Trainings
from paddock.evaluate.training import run as training
from paddock.evaluate.winners.best import bind
from paddock.model import RunRow

RULE_OPTIONS = (
    click.option("--every", default=1, metavar="K", help="Only each K-th checkpoint, and the last one [1]."),
    click.option("--newest-first", is_flag=True, help="What waits is evaluated from the newest on."),
    click.option("--max-pending", default=0, metavar="N", help="At most N wait; older ones give way to newer."),
    click.option("--metric", default="", metavar="NAME", help="To compare checkpoints by: eval/acc."),
    click.option("--goal", default="", metavar="|".join(GOALS), help="What is better; else as define_metric says."),
    click.option("--keep-best", default=0, metavar="K", help="Point `best` to the best one; see --delete-others."),
    click.option("--delete-others", is_flag=True, help="Delete evaluated checkpoints that are not among the K best."),
    click.option("--dry-run", is_flag=True, help="Only say what --delete-others would delete."),
    click.option("--on-best", default="", metavar="CMD", help="Run for each new best, with {path} {step} {value}."),
    click.option("--stop-when", multiple=True, metavar="WHEN", help="training-done, or idle=2h; then the watch ends."),
    click.option("--done-file", default="", metavar="PATH", help="Its presence says that the training is over."),
    click.option("--patience", default=0, metavar="N", help="Ask the trainer to stop after N evaluations in vain."),
    click.option("--min-delta", default=0.0, metavar="X", help="Less than this is no gain [0]."),
    click.option("--stop-file", default="", metavar="PATH", help="Written then, in the checkpoints' directory."),
    click.option("--stop-signal", default="", metavar="NAME", help="Sent then to the training's process: TERM, USR1."),
)


def rules_of(given: Mapping[str, Any], evaluators: tuple[str, ...]) -> Rules:
    """Checked, as far as that can be done before anything was evaluated."""
    named = {name: given[name] for name in Rules.__dataclass_fields__ if name != "stop_when"}
    rules = Rules(**named, stop_when=stop_when(given["stop_when"])).check()
    if rules.metric:
        bind(rules.metric, evaluators)
    return rules


def refuse_urls(rules: Rules, roots: Sequence[str]) -> None:
    """In an object store there are no links, and nothing is deleted there by us."""
    if not any(is_url(root) for root in roots):
        return
    for name in ("keep_best", "done_file", "stop_file"):
        value = getattr(rules, name)
        if value and not os.path.isabs(str(value)):
            hint = "Name a file by its whole path." if name.endswith("file") else "--on-best can copy the best one."
            raise UsageError(f"--{name.replace('_', '-')} needs a directory on a disk.", hint=hint)


def joined(given: Mapping[str, Any]) -> dict[str, Any]:
    """`--stop-when idle 2h` without quotes: the time came to stand among the directories."""
    directories, rules = list(given["directories"]), list(given["stop_when"])
    spans = [word for word in directories if seconds_in(word) is not None and not os.path.isdir(word)]
    for number, rule in enumerate(rules):
        if rule == "idle" and spans:
            rules[number] = f"idle {spans[0]}"
            directories.remove(spans.pop(0))
    return {**given, "directories": tuple(directories), "stop_when": tuple(rules)}


_LEAST_SECONDS = 3.0  # between two looks into the catalog
_SHARE = 0.05  # of the time at most that is spent with them


class Records:
    """What the catalog knows of the trainings, looked up again when it may have changed."""

    def __init__(self, source: Source, run: str) -> None:
        self._source, self._run = source, run
        self._rows: dict[str, RunRow] = {}
        self._found: dict[str, str] = {}  # directory -> run, by these rows
        self._until = 0.0

    def trainings(self) -> Trainings:
        return Trainings(self._find, self._row, goal_of, self._step_at)

    def _find(self, directory: str) -> str:
        if self._run:
            return self._run
        self._look()
        if directory not in self._found:
            began = time.monotonic()
            self._found[directory] = training.find(self._source.home, directory, self._rows.values())
            self._until += (time.monotonic() - began) / _SHARE
        return self._found[directory]

    def _row(self, run: str) -> RunRow | None:
        self._look()
        if run not in self._rows:  # it may have begun since
            self._until = 0.0
            self._look()
        return self._rows.get(run)

    def _step_at(self, run: str, moment: float) -> int | None:
        """The last step that a run had logged at a moment, by the metric that went furthest; None when nothing is
        known. What evaluations have written into it says nothing of where it was."""
        if training.is_made(run):
            return None
        try:
            with self._source.catalog() as catalog:
                catalog.refresh()
                metrics = catalog.run(run).metrics
                own = [name for name in metrics if not name.startswith("eval/")]
                furthest = max(own, key=lambda name: metrics[name].last_step, default="")
                found = catalog.series([run], furthest).get(run) if furthest else None
        except (OSError, PaddockError):
            return None
        if found is None:
            return None
        return max((step for step, t in zip(found.steps, found.times, strict=True) if t <= moment), default=None)

    def _look(self) -> None:
        began = time.monotonic()
        if began < self._until:
            return
        try:
            with self._source.catalog() as catalog:
                found = catalog.refresh()
                self._rows = {row.id: row for row in catalog.runs()}
            if found.new or found.changed or found.removed:
                self._found = {}
        except (OSError, PaddockError):  # the disk is away: what we knew still holds, and we look again
            pass
        now = time.monotonic()
        self._until = now + max(_LEAST_SECONDS, (now - began) / _SHARE)

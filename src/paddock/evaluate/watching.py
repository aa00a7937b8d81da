"""Watching a directory: each checkpoint found, judged, entered in the ledger, and submitted, once."""

from __future__ import annotations

import os
import re
import shlex
import sys
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

from paddock.evaluate.evaluator import Evaluator
from paddock.evaluate.fingerprint import fingerprint
from paddock.evaluate.formats import huggingface
from paddock.evaluate.formats.choice import judge
from paddock.evaluate.judgement import Judgement
from paddock.evaluate.ledger import FOUND, MISSED, RESULT, SKIPPED, SUBMITTED, Finding, Ledger, Result, key_of
from paddock.evaluate.look import Look, look
from paddock.evaluate.pin import pin
from paddock.evaluate.scan import Scan, Scanner
from paddock.evaluate.settling import Settling, mark_of
from paddock.evaluate.steps import step_of
from paddock.queue.directory import DirectoryQueue
from paddock.queue.submission import submit_all
from paddock.record.layout import Home

REPAIR_SECONDS = 10.0  # another watcher may be between two steps; after so long it is not


@dataclass(frozen=True)
class Options:
    pattern: re.Pattern[str]
    evaluators: tuple[Evaluator, ...]
    existing: bool = False  # evaluate what was there before the watch began
    recursive: bool = True
    quiet: float | None = None  # seconds, instead of what each format needs
    step_rule: re.Pattern[str] | None = None
    timeout: float = 0.0
    retries: int = 0
    gpus: int = 0


@dataclass
class Candidate:
    look: Look
    judgement: Judgement
    due: float | None = None


@dataclass
class Watching:
    home: Home
    directory: str
    queue: DirectoryQueue
    options: Options
    training: Callable[[str], str]  # the training run of a checkpoint's path
    say: Callable[[str], None]
    repair_seconds: float = REPAIR_SECONDS
    _settling: Settling = field(default_factory=Settling)
    _candidates: dict[str, Candidate] = field(default_factory=dict)
    _settled: dict[str, object] = field(default_factory=dict)  # path -> the mark of what has been dealt with
    _unmarked: dict[str, float] = field(default_factory=dict)  # keys without a task, and since when we see that

    def __post_init__(self) -> None:
        self.ledger = Ledger.of(self.home, self.directory)
        self._names = self.ledger.names()
        self._scanner = Scanner(self.directory, self.options.pattern, recursive=self.options.recursive)
        self._is_new = not self._names and not (self.ledger.path / "begun").exists()

    @property
    def directories(self) -> set[str]:
        return self._scanner.directories

    def look(self, changed: Collection[str] | None = None, moved: Collection[str] = ()) -> float | None:
        """One round; the seconds until something is due, None when only a change can be news. `changed`: the only
        directories where something happened; `moved`: paths that appeared by a rename."""
        now = time.monotonic()
        found = self._scanner.scan(None if self._is_new else changed)
        if self._is_new and found.sure:
            self._begin(found)
        self._note_gone(found)
        for path in sorted(found.touched | (self._candidates.keys() & found.paths)):
            self._consider(path, now, path in moved)
        self._repair(now)
        dues = [candidate.due for candidate in self._candidates.values() if candidate.due is not None]
        return max(0.0, min(dues) - time.monotonic()) if dues else None

    def _begin(self, found: Scan) -> None:
        """The first watch of this directory: what is there already is passed over, unless it is asked for."""
        self._is_new = False
        if not self.options.existing:
            for path in sorted(found.paths):
                here = look(path)
                if here is not None and judge(here).complete:
                    for evaluator in self.options.evaluators:
                        finding = self._finding(here, evaluator, fingerprint(here))
                        self.ledger.put(finding)
                        self.ledger.put_result(finding.key, Result(state=SKIPPED, reason="it was there before"))
                    self._settled[path] = mark_of(here)
        (self.ledger.path / "begun").touch()
        self._names = self.ledger.names()

    def _consider(self, path: str, now: float, moved: bool) -> None:
        here = look(path)
        if here is None or self._settled.get(path) == mark_of(here):
            return
        self._settling.observe(here, now, moved=moved)
        judgement = judge(here)
        quiet = self.options.quiet
        self._candidates[path] = Candidate(here, judgement, self._settling.due(here, judgement, quiet=quiet))
        if self._settling.is_ready(here, judgement, now, quiet=quiet):
            self._take(here)

    def _take(self, here: Look) -> None:
        content = fingerprint(here)
        for evaluator in self.options.evaluators:
            key = key_of(evaluator.name, content)
            if key + FOUND not in self._names:
                finding = self._finding(here, evaluator, content, pin(here, key), self.training(here.path))
                again = look(here.path)
                if again is None or mark_of(again) != mark_of(here):
                    return  # it changed under our eyes: the next look sees what it has become
                self._names.add(key + FOUND)
                if self.ledger.put(finding):
                    self._submit([finding])
        self._settled[here.path] = mark_of(here)
        self._candidates.pop(here.path, None)
        self._settling.forget(here.path)

    def _finding(self, here: Look, evaluator: Evaluator, content: str, pinned: str = "", run: str = "") -> Finding:
        step = step_of(here.path, self.options.step_rule)
        if self.options.step_rule is None and here.is_directory and huggingface.fits(here):
            step = huggingface.step(here) or step
        return Finding(
            key=key_of(evaluator.name, content),
            evaluator=evaluator.name,
            call=dict(evaluator.call),
            path=here.path,
            fingerprint=content,
            step=step,
            run=run,
            pin=pinned,
            found=round(time.time(), 6),
        )

    def _submit(self, findings: Sequence[Finding]) -> None:
        submit_all([self._task(finding) for finding in findings], queue=self.queue.path, home=self.home)
        for finding in findings:
            self.ledger.mark_submitted(finding.key)
            self._names.add(finding.key + SUBMITTED)
            self.say(f"found {finding.path}" + (f" (step {finding.step})" if finding.step is not None else ""))

    def _task(self, finding: Finding) -> dict[str, object]:
        command = [sys.executable, "-m", "paddock.evaluate.call", str(self.ledger.path), finding.key]
        return {
            "cmd": shlex.join(command),
            "id": finding.task,
            "name": f"{finding.evaluator} {os.path.basename(finding.path)}",
            "parent": finding.run,
            "config": {"checkpoint": finding.path, "step": finding.step, "evaluator": finding.evaluator},
            "facts": {"job_type": "eval"},
            "gpus": self.options.gpus,
            "timeout": self.options.timeout,
            "retries": self.options.retries,
            "snapshot": False,
        }

    def _note_gone(self, found: Scan) -> None:
        """What vanished before it had rested was missed, if it was whole."""
        if not found.sure:
            return
        for path in self._candidates.keys() - found.paths:
            candidate = self._candidates.pop(path)
            self._settling.forget(path)
            if candidate.judgement.complete:
                self._miss(candidate.look)

    def _miss(self, seen: Look) -> None:
        content = "gone:" + repr(mark_of(seen))
        for evaluator in self.options.evaluators:
            finding = self._finding(seen, evaluator, content)
            if self.ledger.put(finding):
                why = "it was deleted before it had rested"
                self.ledger.put_result(finding.key, Result(state=MISSED, reason=why, ended=time.time()))
                self.say(f"missed {seen.path}: {why}")

    def _repair(self, now: float) -> None:
        """Submit what was entered by a watcher that died before it could."""
        bare = {name.removesuffix(FOUND) for name in self._names if name.endswith(FOUND)}
        bare -= {name.removesuffix(SUBMITTED) for name in self._names if name.endswith(SUBMITTED)}
        bare -= {name.removesuffix(RESULT) for name in self._names if name.endswith(RESULT)}
        self._unmarked = {key: self._unmarked.get(key, now) for key in bare}
        due = [key for key, since in self._unmarked.items() if now - since >= self.repair_seconds]
        if not due:
            return
        self._names = self.ledger.names()
        there = {place.id for place in self.queue.list().places}
        for key in due:
            finding = self.ledger.finding(key)
            if finding is None or key + SUBMITTED in self._names or key + RESULT in self._names:
                continue
            if finding.task in there or self.home.run(finding.task).path.exists():
                self.ledger.mark_submitted(key)
                self._names.add(key + SUBMITTED)
            else:
                self._submit([finding])

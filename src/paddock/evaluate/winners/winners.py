"""What follows from the scores of a series: the best is made known, the others may go, the trainer may stop."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from paddock import wire
from paddock.errors import PaddockError
from paddock.evaluate.ledger.book import Ledger
from paddock.evaluate.ledger.entry import DONE
from paddock.evaluate.policy.rules import Rules
from paddock.evaluate.policy.standing import Group
from paddock.evaluate.policy.tally import Known, Tally
from paddock.evaluate.policy.trainer import Trainings
from paddock.evaluate.winners import crown, deletion, link
from paddock.evaluate.winners.best import PREFIX, Score, best, bind
from paddock.evaluate.winners.halt import Halt
from paddock.evaluate.winners.hook import Hook
from paddock.evaluate.winners.keeping import superfluous
from paddock.evaluate.winners.stall import stalled
from paddock.record.annotation import annotate
from paddock.record.layout import Home

_NAMES = 5  # of metrics, at most
_HOOK_SECONDS = 10.0  # to wait for a command at the end of the watch


class Winners:
    def __init__(
        self,
        home: Home,
        root: str,
        ledger: Ledger,
        tally: Tally,
        rules: Rules,
        evaluators: Sequence[str],
        trainings: Trainings,
        say: Callable[[str], None],
    ) -> None:
        self._home, self._root, self._ledger, self._tally = home, root, ledger, tally
        self._rules, self._evaluators, self._trainings, self._say = rules, evaluators, trainings, say
        self._metric = bind(rules.metric, evaluators) if rules.metric else None
        self._directory = crown.place(ledger, rules.metric, rules.goal)
        self._hook = Hook(rules.on_best, self._directory, say) if rules.on_best else None
        self._halt = Halt(home, ledger, rules, trainings, say) if rules.patience else None
        self._said: set[str] = set()
        self._missed = False  # it was said that the metric is not among the scores
        self._gone: set[str] = set()  # keys of checkpoints that are not there any more

    def begin(self) -> None:
        """Finish what an earlier watcher has begun."""
        for finding in deletion.finish(self._ledger, self._root):
            self._say(f"deleted {finding.path}: a watcher died while it did")
        if self._rules.keep_best and not self._rules.dry_run:
            for series in dict.fromkeys(group.series for group in self._tally.groups()):
                link.sweep(series)

    def close(self) -> None:
        if self._hook is not None:
            self._hook.wait(_HOOK_SECONDS)

    def judge(self, series: Iterable[str]) -> None:
        if self._hook is not None:
            self._hook.poll()
        if self._metric is not None:
            for one in series:
                self._judge(one)

    def run_of(self, series: str) -> str:
        """The training run, as far as the ledger knows it."""
        known = self._tally.of_series(series)
        return max(((one.finding.found, one.finding.run) for one in known if one.finding.run), default=(0.0, ""))[1]

    def _judge(self, series: str) -> None:
        scores = self._scores(series)
        if not scores:
            return
        run = self.run_of(series)
        goal = self._goal(run)
        top = best(scores, goal)
        if top is not None:
            self._crown(series, top, run, goal)
        if self._rules.delete_others:
            self._delete(series, scores, goal)
        if self._halt is not None:
            stall = stalled(scores, goal, self._rules.patience, self._rules.min_delta)
            if stall is not None:
                self._halt.ask(series, run, stall, self._rules.metric)

    def _scores(self, series: str) -> list[Score]:
        assert self._metric is not None
        found = []
        others: dict[str, None] = {}
        for known in self._tally.of(Group(series, self._metric.evaluator)):
            if known.result is not None and known.result.state == DONE:
                value = self._metric.value_of(known.result.values)
                if value is not None:
                    found.append(Score(known.standing, value))
                others.update(dict.fromkeys(known.result.values))
        if others and not found and not self._missed:  # it is misspelt, or has yet to be returned
            self._missed = True
            there = ", ".join([f"{PREFIX}{self._metric.evaluator}/{name}" for name in others][:_NAMES])
            more = ", ..." if len(others) > _NAMES else ""
            self._say(f"--metric {self._rules.metric} is not among the scores that came: {there}{more}")
        return found

    def _goal(self, run: str) -> str:
        assert self._metric is not None
        if self._rules.goal:
            return self._rules.goal
        row = self._trainings.row(run) if run else None
        goals = dict(row.goals) if row is not None else {}
        full = f"eval/{self._metric.evaluator}/{self._metric.names[-1] if self._metric.names else ''}".rstrip("/")
        said = next((goals[name] for name in (full, self._rules.metric) if goals.get(name)), "")
        return said or self._trainings.goal(self._rules.metric, goals)

    # The best

    def _crown(self, series: str, top: Score, run: str, goal: str) -> None:
        words = {
            "path": top.at.path,
            "step": "" if top.at.step is None else str(top.at.step),
            "value": f"{top.value:.12g}",
            "metric": self._rules.metric,
            "run": run,
        }
        about: dict[str, object] = {name: wire.text(word) for name, word in words.items()}
        about |= {"key": top.at.key, "goal": goal, "series": wire.text(series), "t": round(time.time(), 6)}
        if crown.put(self._directory, top.at.key, about):
            self._say(f"best {words['metric']} = {words['value']}: {top.at.path}")
            self._mark(run, top, words)
        if self._rules.keep_best and not self._rules.dry_run:
            known = {one.finding.path for one in self._tally.of_series(series)}
            refusal = link.point(series, top.at.path, known)
            if refusal:
                self._say_once(refusal)
        if self._hook is not None:
            self._hook.run(top.at.key, words)

    def _mark(self, run: str, top: Score, words: dict[str, str]) -> None:
        if not run:
            return
        data = {"checkpoint": wire.text(words["path"]), "metric": words["metric"], "value": top.value}
        with contextlib.suppress(PaddockError):  # the run was removed: nobody will look for a mark in it
            record: dict[str, Any] = {"k": "mark", "step": top.at.step or 0, "name": "best", "data": data}
            annotate(self._home.run(run), record)

    # The others

    def _delete(self, series: str, scores: Sequence[Score], goal: str) -> None:
        everyone = [known for known in self._tally.of_series(series) if self._is_there(known)]
        there = {known.finding.key for known in everyone}
        left = [score for score in scores if score.at.key in there]
        unfinished = {known.finding.path for known in everyone if not self._is_through(known)}
        standings = [known.standing for known in everyone]
        for score in superfluous(standings, left, goal, self._rules.keep_best, unfinished):
            known = self._tally.get(score.at.key)
            if known is not None:
                self._let_go(
                    known, f"{self._rules.metric} = {score.value:.6g} is not among the best {self._rules.keep_best}"
                )

    def _let_go(self, known: Known, why: str) -> None:
        if self._rules.dry_run:
            doubt = deletion.doubt_about(self._root, known.finding)
            self._say_once(
                f"would keep {known.finding.path}: {doubt}" if doubt else f"would delete {known.finding.path}: {why}"
            )
            return
        refusal = deletion.delete(self._ledger, self._root, known.finding, why)
        if refusal:
            self._say_once(f"kept {known.finding.path}: {refusal}")
        else:
            known.deleted = True
            self._say(f"deleted {known.finding.path}: {why}")

    def _is_there(self, known: Known) -> bool:
        if known.deleted or known.finding.key in self._gone:
            return False
        if os.path.lexists(known.finding.path):
            return True
        self._gone.add(known.finding.key)
        return False

    def _is_through(self, known: Known) -> bool:
        """Whether every evaluator has read it to the end: ours, and those of other watches of the directory."""
        content = known.finding.fingerprint
        alike = self._tally.of_content(content)
        ours = [one for one in alike if one.group.series == known.group.series]
        done = {one.finding.evaluator for one in ours if one.result is not None and one.result.state == DONE}
        return done.issuperset(self._evaluators) and all(one.result is not None for one in alike)

    def _say_once(self, text: str) -> None:
        if text not in self._said:
            self._said.add(text)
            self._say(text)

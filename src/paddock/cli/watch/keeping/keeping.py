"""Keeping watches until somebody ends it: the sign of life, the workers, the orders, and what is said."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from types import FrameType

from paddock import settings, wire
from paddock.cli.command import Session
from paddock.cli.output import QUIET
from paddock.cli.watch.keeping.crew import Crew
from paddock.cli.watch.keeping.ending import end_orphans
from paddock.cli.watch.keeping.follow import Follow, View
from paddock.cli.watch.keeping.view import Plain, choose
from paddock.cli.watch.plan import Plan
from paddock.cli.watch.shown import near, shown_pattern, tell_if_nobody_evaluates
from paddock.compare.text import many
from paddock.errors import HomeError
from paddock.evaluate.ledger.account import PENDING, RUNNING, Account, Evaluation, counts, tasks
from paddock.evaluate.ledger.entry import SKIPPED
from paddock.evaluate.ledger.watcher import FINISH, STOP, Facts, Post, Watcher, watchers
from paddock.evaluate.origin.place import real
from paddock.evaluate.watching import nesting
from paddock.evaluate.watching.again import restore
from paddock.evaluate.watching.globs import Gathering
from paddock.evaluate.watching.trouble import TROUBLE, refusal
from paddock.evaluate.watching.upkeep import SUSPECT_SECONDS
from paddock.evaluate.watching.vigil import Vigil
from paddock.evaluate.watching.watch import Watching
from paddock.monitor.watches import evaluation_json
from paddock.record.layout import Home
from paddock.record.process import is_nohup

_LOOK_SECONDS = 1.0  # between two looks at what is left


class Keeping:
    def __init__(self, session: Session, home: Home, plans: Sequence[Plan], log: str = "") -> None:
        self._session, self._home, self._plans, self._log = session, home, plans, log
        self._view: View = Plain(session.out)
        self._watches = [one for plan in plans for one in plan.watches(home, self._tell)]
        for one in self._watches:
            restore(one)
        self._crew = Crew(home, plans, self._tell)
        self._signals = 0
        self._closed = False  # whoever started us has gone
        self._looked = 0.0
        self._refused: set[str] = set()  # directories that have come and could not be watched at first

    def look_once(self, remarks: Sequence[str] = ()) -> None:
        before = {one.finding.key for one in self._evaluations()}
        refused: list[HomeError] = []
        for watching in self._watches:
            try:
                watching.look_until_settled()
            except HomeError as error:  # the others are looked at all the same
                refused.append(error)
            watching.attend()
            watching.close()
        self._remember_globs()
        self._tell_of_passed_over()
        self._tidy()
        new = [one for one in self._evaluations() if one.finding.key not in before]
        self._session.out.json({"found": [evaluation_json(one) for one in new], "remarks": list(remarks)})
        for one in new:
            if one.state != SKIPPED:
                self._session.out.bare(one.finding.path)
        queues = {plan.queue.address: plan.queue for plan in self._plans}
        for queue in queues.values() if any(one.state == PENDING for one in new) else ():
            tell_if_nobody_evaluates(self._session.out, queue)
        if refused:
            raise HomeError("\n".join(error.message for error in refused), hint=refused[0].hint)

    def keep(
        self,
        begun: Callable[[], None] = lambda: None,
        *,
        plain: bool = False,
        until_eof: bool = False,
        remarks: Sequence[str] = (),
    ) -> None:
        """Until a signal, an order, or the end of what it was asked for. `begun` is called when everything has been
        looked at once: what comes after that is new."""
        here = [seen for seen in watchers(self._home) if seen.own and any(seen.at(_id(one)) for one in self._watches)]
        end_orphans(self._home, here)  # of watchers that were killed
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            if not is_nohup(number):
                signal.signal(number, self._caught)
        self._watcher = Watcher(self._home, self._facts(), settings.load().lease_beat_seconds)
        if until_eof:
            threading.Thread(target=self._wait_for_eof, name="stdin", daemon=True).start()
        self._gatherings = [self._gathering(plan, pattern) for plan in self._plans for pattern in plan.globs]
        self._vigil = Vigil([*self._watches, *self._gatherings], min(plan.interval for plan in self._plans))
        out = self._session.out
        view = choose(out, plain=plain, title=self._title, evaluators=len(self._evaluators()))
        self._follow = Follow(self._watches, view, silent=out.mode == QUIET)
        self._view = self._follow.view
        try:
            self._watcher.add(*self._crew.start())
            for one in self._watches:
                one.look()
            self._remember_globs()
            self._tell_of_passed_over()
            self._follow.start()
            begun()
            self._session.out.json_line(self._begun(remarks))
            self._vigil.keep(self._is_over)
            for why in dict.fromkeys(one.over for one in self._watches or self._gatherings if one.over):
                self._tell(f"the watch is over: {why}")
        finally:
            for one in self._watches:
                one.close()
            self._end()
            self._watcher.close()

    def _gathering(self, plan: Plan, pattern: str) -> Gathering:
        idle = plan.options.rules.stop_when.idle
        return Gathering(pattern, plan.globs[pattern], partial(self._appeared, plan), idle)

    def _appeared(self, plan: Plan, paths: Sequence[str]) -> list[str]:
        """Directories that fit a pattern have come: they are watched too, from their first checkpoint on. Returned are
        those that the disk refuses now."""
        refused = []
        there = {real(one.directory): one.directory for one in self._watches}
        inner = nesting.inner(there | {real(path): path for path in paths})
        for path in paths:
            if path in inner or real(path) in there:
                continue
            try:
                (one,) = plan.at([path]).watches(self._home, self._tell, late=True)
                restore(one)
            except TROUBLE as error:
                if path not in self._refused:
                    self._tell(f"{refusal(path, error)}; it is tried again")
                self._refused.add(path)
                refused.append(path)
                continue
            self._watches.append(one)
            self._vigil.add(one)
            self._follow.add(one)
            self._watcher.take(_post(one))
            self._tell(f"watching {near(path)}" + (" too" if len(self._watches) > 1 else ""))
            self._session.out.json_line({"event": "watching", "directories": [path]})
        return refused

    def _remember_globs(self) -> None:
        for plan in self._plans:
            plan.remember_globs(self._home)

    def _tell_of_passed_over(self) -> None:
        number = sum(one.passed_over for one in self._watches)
        if number:
            self._tell(f"passing over {many(number, 'checkpoint')} from before the first watch (see --eval-existing)")

    def _title(self) -> str:
        names = ", ".join(self._evaluators())
        patterns = [shown_pattern(pattern) for plan in self._plans for pattern in plan.globs]
        several = f"{len(self._directories)} directories" if self._watches else f"for {', '.join(patterns)}"
        where = near(self._directories[0]) if len(self._directories) == 1 else several
        end = "`paddock watch stop` ends it" if self._log else "Ctrl-C ends it"
        return f"Watching {where} with {names}. {end}."

    @property
    def _directories(self) -> list[str]:
        return list(dict.fromkeys(one.directory for one in self._watches))

    def _evaluators(self) -> list[str]:
        return list(dict.fromkeys(one.name for plan in self._plans for one in plan.options.evaluators))

    def _begun(self, remarks: Sequence[str]) -> dict[str, object]:
        return {
            "event": "watching",
            "watcher": self._watcher.name,
            "home": str(self._home.path),
            "directories": self._directories,
            "remarks": list(remarks),
        }

    def _is_over(self) -> bool:
        if self._signals or self._watcher.order == STOP:
            return True  # first: a second signal may have ended the workers already
        if self._crew.bury():
            self._watcher.add(*self._crew.start())
        return (self._closed or self._watcher.order == FINISH) and self._is_finished()

    def _is_finished(self) -> bool:
        """Nothing rests before it is evaluated, nothing waits and nothing runs."""
        if not self._looked:  # what came just before nobody may have told us of yet
            for gathering in self._gatherings:
                gathering.look()
            for one in self._watches:
                one.look()
        elif time.monotonic() - self._looked < _LOOK_SECONDS:
            return False
        self._looked = time.monotonic()
        return not any(one.unsettled for one in self._watches) and not any(self._left())

    def _left(self) -> tuple[int, int]:
        """How many evaluations wait, and how many run."""
        found = counts(self._evaluations())
        return found[PENDING], found[RUNNING]

    def _evaluations(self) -> list[Evaluation]:
        """What another watch of a directory has in a queue of its own is for that one to see to."""
        ours = {plan.queue.address for plan in self._plans}
        where = tasks(ours)
        ledgers = {one.ledger.path: one.ledger for one in self._watches}.values()  # two tables may name one directory
        found = (one for ledger in ledgers for one in Account(ledger).read(where))
        return [one for one in found if one.finding.queue in ours | {""} or one.finding.task in where.places]

    def _end(self) -> None:
        _, running = self._left()
        self._crew.end(at_once=self._signals > 1)
        if running and self._crew.slots:
            self._tell(f"ending; {many(running, 'evaluation')} may end or go back (Ctrl-C again: at once)")
        self._crew.wait()
        self._tidy()
        self._follow.close()
        self._view = Plain(self._session.out)
        waiting, running = self._left()
        if waiting or running:
            queues = list(dict.fromkeys(_shown(plan, self._home) for plan in self._plans))
            self._tell(f"{many(waiting + running, 'evaluation')} left in the queue {', '.join(queues)}.")
            self._tell(f"`paddock watch`, or `paddock worker {shlex.join(queues)}`, goes on with them.")

    def _tidy(self) -> None:
        later = [one.tidy() for one in self._watches]
        if any(later):
            time.sleep(SUSPECT_SECONDS)
            for one in self._watches:
                one.tidy()

    def _caught(self, number: int, frame: FrameType | None) -> None:
        self._signals += 1
        if self._signals > 1:
            self._crew.end(at_once=True)

    def _wait_for_eof(self) -> None:
        # Not by way of sys.stdin, whose lock this thread would hold while the interpreter ends.
        with contextlib.suppress(OSError):
            while os.read(0, 4096):
                pass
        self._closed = True

    def _facts(self) -> Facts:
        return Facts(
            posts=tuple(_post(one) for one in self._watches),
            queues=tuple(dict.fromkeys(plan.queue.address for plan in self._plans)),
            globs=tuple(wire.text(pattern) for plan in self._plans for pattern in plan.globs),
            started=round(time.time(), 3),
            detached=bool(self._log),
            log=self._log,
        )

    def _tell(self, text: str) -> None:
        self._view.said(text)


def _id(watching: Watching) -> str:
    return watching.ledger.path.name


def _post(watching: Watching) -> Post:
    evaluators = {evaluator.name: dict(evaluator.call) for evaluator in watching.options.evaluators}
    return Post(watch=_id(watching), directory=wire.text(watching.directory), evaluators=evaluators)


def _shown(plan: Plan, home: Home) -> str:
    return plan.queue.name if os.path.dirname(plan.queue.address) == str(home.queues) else plan.queue.address

"""What a worker begins: the best waiting task that fits is claimed, gets its run's directory, and is given to the
guard. Whatever is missing for that, the task stays as it was, waits aside, and the log says why."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from paddock.errors import Damaged, PaddockError
from paddock.queue.directory import DISK_ERRORS
from paddock.queue.lifecycle import QUEUED, Place, Token, ended
from paddock.queue.task import Attempt, TaskFile
from paddock.record.layout import Home
from paddock.work.attempts import attempt as attempts
from paddock.work.attempts import earlier
from paddock.work.attempts.attempt import Running
from paddock.work.attempts.codetree import Trees
from paddock.work.attempts.settle import End, Ending, Settling
from paddock.work.attempts.spares import Spares
from paddock.work.awaited import Awaited
from paddock.work.ensemble.alone import Alone
from paddock.work.notices.notice import Notices
from paddock.work.options import Options
from paddock.work.processes import process
from paddock.work.processes.clock import boot_time
from paddock.work.processes.guard import Exited, Guard
from paddock.work.queues.desk import Desk
from paddock.work.queues.waiting import Candidate, mark
from paddock.work.slots import Slots, visible
from paddock.work.walltime import Walltime

if TYPE_CHECKING:
    from paddock.work.ensemble.gangs import Gangs

TROUBLE_SECONDS = 5.0  # nothing is begun for so long after a disk has refused
KEPT_SECONDS = 1.0  # before a task that has to wait for kept slots is looked at again
REST_SECONDS = 30.0  # before a task that could not be begun is tried again
HOLD_SECONDS = 5.0  # a task rests for so long when another file of it is in a worker's hands

Say = Callable[[str], None]


class Starting:
    def __init__(
        self,
        home: Home,
        cache: Path,
        options: Options,
        guard: Guard,
        settling: Settling,
        notices: Notices,
        worker: str,
        say: Say,
    ) -> None:
        self.home, self.cache, self.options, self.guard = home, cache, options, guard
        self.settling, self.notices, self.worker, self.say = settling, notices, worker, say
        self.free = options.slots
        self.trees = Trees(home, cache, options.fetch)
        self.awaited = Awaited()
        self.running: dict[str, tuple[Desk, Running]] = {}
        self.taken = 0
        self.walltime = Walltime(options.until, options.end, options.grace)
        self.began = time.monotonic()
        self._trouble = -1e9  # when a disk refused
        self.gangs: Gangs | Alone = Alone(self)
        if not options.only or options.slots.tasks > 1:
            self.gangs = self.gangs.grown()
        self.spares = Spares(guard, home, worker, options.slots, options.warm, options.persist, say)

    @property
    def time(self) -> float:
        """Seconds that the worker has been there."""
        return time.monotonic() - self.began

    def ended(self, key: str) -> tuple[Desk, Running] | None:
        """One of them is over: what it had is free."""
        found = self.running.pop(key, None)
        if found is not None:
            self.free = self.free.give_back(found[1].task, found[1].gpus)
        return found

    def is_resting(self, now: float) -> bool:
        """A disk has refused, and is given time."""
        return now - self._trouble < TROUBLE_SECONDS or self.settling.is_stuck

    def may_begin(self, now: float) -> bool:
        """Whether anything at all may."""
        if (self.options.one_task and self.taken) or self.is_resting(now):
            return False
        if self.options.vouched and boot_time() - self.options.vouched() > self.options.liveness.fence / 2:
            return False  # what is begun now would soon be ended
        return self.walltime.may_begin(now - self.began)

    def room(self, now: float) -> Slots:
        """What is free, and kept for none whose code is on its way."""
        return self.awaited.room(self.free, now)

    def begin(self, desks: Sequence[Desk], now: float) -> None:
        """Start what can be started."""
        for (desk, found), trouble in self.trees.done():
            if trouble:
                self.awaited.missed(found.file.task)
                self.say(f"waits: {found.place.id}: {trouble}")
                desk.waiting.put_aside(found, trouble, REST_SECONDS)
            else:
                self.awaited.came(found.file.task)
                desk.waiting.again(found.place.name)
        self._gather(now)
        for desk in desks:
            while (room := self.room(now)).tasks and self.may_begin(now):
                found = desk.waiting.next(room, now)
                if found is None:
                    break
                self._try(desk, found, now)
            self._overtake(desk, now)
            if self.free.tasks and self.may_begin(now):
                try:
                    desk.checks.launch(now)
                except OSError as error:
                    self._refused("a check", error)

    def _try(self, desk: Desk, found: Candidate, now: float) -> bool:
        """Begin it if all that it needs is there; False when that is a slot which is kept for another."""
        if found.doomed:
            self._fail_unrun(desk, found)
        elif self._has_double(desk, found.place.id):
            desk.waiting.put_aside(found, "another file of it is in a worker's hands", HOLD_SECONDS)
        elif self._may_run(desk, found, now):
            if found.file.task.is_gang:
                if isinstance(self.gangs, Alone):
                    self.gangs = self.gangs.grown()
                self.gangs.add(desk, found)
                self._gather(now)  # before those behind it have its slots
            elif self.gangs.make_room(desk, found):
                self._start(desk, found, found.place)
            else:
                desk.waiting.put_aside(found, "slots are kept for others", KEPT_SECONDS)
                return False
        return True

    # Tasks of several ranks

    def _gather(self, now: float) -> None:
        if self.may_begin(now):
            for desk, led in self.gangs.gather(now):
                self.running[led.running.key] = (desk, led.running)
                self.notices.started(desk.queue, led.running.task, led.running.number)
            self.look_at_gangs(now, stopping=False)

    def look_at_gangs(self, now: float, stopping: bool) -> None:
        for desk, led, end in self.gangs.look(now, stopping):
            del self.running[led.running.key]  # not `ended`: its slots are those of its ranks
            self.say(f"{end.result} ({end.text}): {led.running.task.label}")
            self.settling.add(desk.queue, led.running, end)

    def _overtake(self, desk: Desk, now: float) -> None:
        """Slots are kept for tasks of several ranks: who is ahead of those, or has let them wait for long, is next."""
        while self.gangs.offers and self.may_begin(now):
            key = desk.waiting.peek(self.gangs.room)
            if key is None or not self.gangs.may_overtake(desk, key):
                return
            found = desk.waiting.next(self.gangs.room, now)
            if found is None or not self._try(desk, found, now):
                return

    # One task

    def _has_double(self, desk: Desk, task: str) -> bool:
        """An editor saved it under its old name after it was taken, or somebody made a copy. They must not run at
        once; and if the first is ours, the second claim could bear the same name and would overwrite its file."""
        mine = [running.place.id for _, running in self.running.values()]
        return task in mine or task in self.settling.ids or desk.mirror.is_owned(task)

    def _may_run(self, desk: Desk, found: Candidate, now: float) -> bool:
        """Whether all that it needs is there. If not, it waits aside."""
        task = found.file.task
        if not self.walltime.may_begin(now - self.began, task.timeout):
            desk.waiting.put_aside(found, "its timeout is longer than this worker's time", hopeless=True)
            return False
        if task.code and not self.trees.has(task.code):
            desk.waiting.put_aside(found, "its code is being unpacked")
            if not task.is_gang:  # slots for ranks are kept when it is gathered
                self.awaited.keep(task, now)
            self.trees.ask(task.code, (desk, found))
            return False
        return not task.check or desk.checks.allows(found, now)

    def _fail_unrun(self, desk: Desk, found: Candidate) -> None:
        token = Token(self.worker, len(found.file.attempts) + 1)
        try:
            mine = desk.queue.claim(found.place, token)
        except OSError as error:
            self._refused(found.place.id, error)
            desk.waiting.put_aside(found, str(error), REST_SECONDS)
            return
        if mine is not None:
            desk.mirror.moved(found.place, mine)
            self._not_run(desk, mine, found.file, found.doomed)

    def _not_run(self, desk: Desk, mine: Place, file: TaskFile, why: str) -> None:
        """It fails without having run."""
        assert mine.token is not None
        number = len(file.attempts) + 1
        note = Attempt(number=number, worker=self.worker, outcome="failed", exit=f"not run: {why}")
        self.say(f"failed (not run: {why}): {file.task.label}")
        self.settling.settle(Ending(desk.queue, file, note, mine.token, mine.id, mine))

    def _refused(self, what: str, error: OSError) -> None:
        """A disk refused. What is ours by now is given back at the next look at what was left behind."""
        if not isinstance(error, FileNotFoundError):  # then a person was faster
            self.say(f"{what} cannot be begun now ({error.strerror})")
            self._trouble = time.monotonic()

    def checked(self, desk: Desk, event: Exited, now: float) -> None:
        held = None
        try:
            held = desk.checks.ended(event, now)
            if held is None:
                return
            task = held.found.file.task
            if self.may_begin(now) and self.free.fits(task) and not task.is_gang:
                self._start(desk, held.found, held.place)
            else:
                desk.checks.release(held)
        except OSError as error:
            self._refused("a checked task", error)

    def _start(self, desk: Desk, found: Candidate, at: Place) -> None:
        """Claim a task, out of the queue or after its check, and run it."""
        mine = None
        try:
            mine = desk.queue.claim(at, at.token or Token(self.worker, len(found.file.attempts) + 1))
            if mine is None:
                desk.mirror.forget(at.state, at.name)
                return
            desk.mirror.moved(at, mine)
            if desk.has_rival(mine) or self._is_held(desk, mine, found):
                desk.waiting.put_aside(found, "another worker has it, or another file of it", HOLD_SECONDS)
                self._give_back(desk, mine)
                return
            file = self._as_claimed(desk, mine, found)
            if file is None:
                self._give_back(desk, mine)
                return
            spare = self.spares.find(file.task, self.free, time.monotonic())
            _, gpus = self.free.take(file.task, spare.gpus if spare is not None else ())
            running, output = attempts.begin(self.home, mine, file, self.worker, gpus, self.cache)
        except (PaddockError, OSError) as error:
            self._not_begun(desk, found, mine, error)
            return
        self.taken += 1
        self.free, _ = self.free.take(file.task, gpus)
        try:
            devices = visible(file.task, gpus, self.options.slots.share)
            environ = attempts.environment(file.task, running.number, self.home, devices)
            self.running[running.key] = (desk, running)
            limits = file.task.timeout, self.options.grace
            if spare is None or not self.spares.hand(spare, running, environ, output, *limits):
                command = attempts.argv(file.task.command, running.directory, running.root)
                self.guard.spawn(running.key, command, environ, output, *limits)
        except OSError as error:  # no memory for the message, or no descriptor
            self._refused(mine.id, error)
            self.ended(running.key)
            self.settling.add(desk.queue, running, End("requeued", f"not run: {error.strerror}"))
            return
        finally:
            os.close(output)
        self.say(f"running: {file.task.label}")
        self.notices.started(desk.queue, file.task, running.number)

    def _is_held(self, desk: Desk, mine: Place, found: Candidate) -> bool:
        """Whether somebody runs it whose file of it was renamed by a person. What such a one left who died is ended."""
        root, number = f"{self.home.path}/runs/{mine.id}", len(found.file.attempts) + 1
        if not os.path.lexists(f"{root}/output/{number}.log"):
            return False
        held = False
        for worker in earlier.holders(root, number):
            if worker == self.worker or not os.path.lexists(desk.queue.workers / worker):
                continue
            if desk.reclaim.watch.is_dead(worker):
                process.kill_marked(f"{mine.id}~{Token(worker, number)}")
            else:
                held = True
        return held

    def _as_claimed(self, desk: Desk, mine: Place, found: Candidate) -> TaskFile | None:
        """The file as it is now that it is ours; None when it was edited in between, so that it has to wait after
        all."""
        if mark(os.stat(desk.queue.where(mine), follow_symlinks=False)) == found.mark:
            return found.file
        now = desk.waiting.read(mine)
        return now.file if now is not None and _needs(now.file) == _needs(found.file) else None

    def _not_begun(self, desk: Desk, found: Candidate, mine: Place | None, error: PaddockError | OSError) -> None:
        """Something was missing: the task stays as it is, and is tried again later."""
        if isinstance(error, OSError) and error.errno in DISK_ERRORS:
            self._refused(found.place.id, error)
        elif not isinstance(error, FileNotFoundError):
            self.say(f"waits: {found.place.id}: {error}")
        if mine is None:
            desk.waiting.put_aside(found, str(error), REST_SECONDS)
            return
        if isinstance(error, PaddockError) and not isinstance(error, Damaged):
            self._not_run(desk, mine, found.file, str(error))  # its id cannot be a run's: that will not change
            return
        desk.waiting.put_aside(found, str(error), REST_SECONDS)
        self._give_back(desk, mine)

    def _give_back(self, desk: Desk, mine: Place) -> None:
        with contextlib.suppress(OSError):
            if desk.queue.move(mine, ended(mine, QUEUED)):
                desk.mirror.moved(mine, ended(mine, QUEUED))
                desk.waiting.again(ended(mine, QUEUED).name)


def _needs(file: TaskFile) -> tuple[object, ...]:
    task = file.task
    return task.after, task.check, task.code, task.gpus, task.cpus, task.mem, task.timeout, task.workers

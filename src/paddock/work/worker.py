"""A worker: takes tasks, has them run under a guard, watches their files, and puts them where they belong.

One loop. Each round: what the guard says, what the directories say, what may start. A disk that hangs stops this loop
and nothing else: the guard, which touches no disk, then ends the tasks before others may take them. Beside the loop
there are a thread that brings results to the disk (settle.py) and one for each code snapshot that is being unpacked.
"""

from __future__ import annotations

import contextlib
import os
import select
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from paddock.errors import Damaged, PaddockError
from paddock.queue.directory import DISK_ERRORS, DirectoryQueue
from paddock.queue.lease import Lease, worker_name
from paddock.queue.lifecycle import QUEUED, Liveness, Order, Place, Token, ended
from paddock.queue.task import Attempt, TaskFile
from paddock.record.layout import Home
from paddock.record.process import start_ticks
from paddock.work import attempt as attempts
from paddock.work import process
from paddock.work.attempt import Running
from paddock.work.checks import Checking
from paddock.work.codetree import Trees
from paddock.work.desk import MISS_SECONDS, Desk
from paddock.work.guard import Exited, Fenced, Guard, GuardDied
from paddock.work.guarding import boot_time
from paddock.work.mirror import POLL_SECONDS
from paddock.work.reclaim import EVERY as RECLAIM_SECONDS
from paddock.work.settle import End, Ending, Settling
from paddock.work.signals import Signals
from paddock.work.slots import Slots, visible
from paddock.work.waiting import Candidate, mark
from paddock.work.walltime import Walltime

BEAT_SECONDS = 5.0  # of the runs' journals
BUSY_SECONDS = 0.05  # between two looks at the directories while nothing could start anyway
TROUBLE_SECONDS = 5.0  # nothing is begun for so long after a disk has refused
REST_SECONDS = 30.0  # before a task that could not be begun is tried again
HOLD_SECONDS = 5.0  # a task rests for so long when another file of it is in a worker's hands
LAST_TRIES_SECONDS = 30.0  # for results that the disk does not take, when the worker has to leave
DEFAULT_LIVENESS = Liveness()


@dataclass(frozen=True)
class Options:
    slots: Slots
    one_task: bool = False
    persist: bool = True
    drain: bool = False  # at the end let tasks finish instead of giving them back
    until: float = 0.0  # seconds from the start after which it leaves; 0 is for ever
    end: float = 0.0  # seconds from the start after which the machine is gone (Slurm); 0 is never
    grace: float = 30.0
    liveness: Liveness = DEFAULT_LIVENESS
    listen: bool = True  # let the kernel tell what changes, where it can


class Worker:
    def __init__(
        self,
        home: Home,
        queues: list[DirectoryQueue],
        options: Options,
        cache: Path,
        tell: Callable[[str], None] = lambda text: None,
    ) -> None:
        """`tell` gets what goes to the worker's log: for a person who looks on."""
        self.home, self.options, self.cache, self._tell = home, options, cache, tell
        process.adopt_orphans()  # should the guard be killed, its tasks come to us
        # Before anything else: it forks.
        self.guard = Guard.start(options.liveness.fence, env=attempts.worker_environment(), starts=False)
        self.name = worker_name(",".join(options.slots.gpus))
        self.free = options.slots
        self.started = time.monotonic()
        self.walltime = Walltime(options.until, options.end, options.grace)
        self.running: dict[str, tuple[Desk, Running]] = {}
        self.settling = Settling(self.name, self.say)
        self.trees = Trees(home, cache)
        self.taken = 0
        self.stopping = ""
        self._renewed = -1e9
        self._beat = 0.0
        self._trouble = -1e9  # when a disk refused
        self._stopped = 0.0  # when we began to stop
        self._forced = False
        self._news = -1e9  # when something changed in a directory
        self.desks: list[Desk] = []
        for queue in queues:
            queue.prepare()
            lease = Lease(queue.workers, self.name, ",".join(options.slots.gpus), options.slots.tasks, self.guard.pid)
            self.desks.append(Desk(queue, lease, self.guard, options.slots, options.liveness, listen=options.listen))

    def say(self, text: str) -> None:
        self._tell(text)
        for desk in self.desks:
            desk.lease.log(text)

    # The loop

    def run(self) -> int:
        """Work until there is a reason to stop. 0 when all went well."""
        self.signals = Signals()
        try:
            self.say("started")
            poller = select.poll()
            poller.register(self.guard.fileno(), select.POLLIN)
            poller.register(self.signals.fd, select.POLLIN)
            listening: set[int] = set()
            while True:
                now = time.monotonic()
                self._round(now)  # first: what a dead worker left may be all there is
                if self._over():
                    break
                # While nothing could start, news of what others do can wait a moment, and comes in one go.
                wanted = {desk.mirror.fd for desk in self.desks if desk.mirror.fd >= 0}
                wanted = set() if self._is_busy(now) else wanted
                for fd in listening - wanted:
                    poller.unregister(fd)
                for fd in wanted - listening:
                    poller.register(fd, select.POLLIN)
                listening = wanted
                poller.poll(self._pause(now) * 1000)
            return 0
        finally:
            self._leave()
            self.signals.restore()

    def _round(self, now: float) -> None:
        for name in self.signals.read():
            self.stop(f"signal {name}")
        self._renew(now)
        self._hear(now)
        for desk in self.desks:
            if desk.refresh(now):
                self._news = now
        self._look()
        self.settling.work()
        if not self.stopping:
            for desk in self.desks:
                desk.reclaim.look(desk.busy({*self.running, *self.settling.keys}))
            self._start_some(now)
        self._beat_journals(now)

    def _is_busy(self, now: float) -> bool:
        return self.free.tasks == 0 and now - self._news < BUSY_SECONDS

    def _over(self) -> bool:
        if self.running:
            return False
        if self.settling:
            return bool(self.stopping) and time.monotonic() - self._stopped > LAST_TRIES_SECONDS
        if self.stopping:
            return True
        if self.options.one_task and self.taken:
            return True
        if self.options.persist or any(desk.waiting.may_come() for desk in self.desks):
            return False
        return not any(desk.may_come() for desk in self.desks)

    def _pause(self, now: float) -> float:
        """Seconds until something is to be done although nothing happens."""
        if self.settling and not self.running:
            return 0.002
        pause = min(self.options.liveness.beat, RECLAIM_SECONDS, max(self.walltime.over - now + self.started, 0.1))
        if self._is_busy(now):
            pause = BUSY_SECONDS
        if self.trees.busy:
            pause = min(pause, 0.05)
        if any(desk.mirror.fd < 0 for desk in self.desks):
            pause = min(pause, POLL_SECONDS)
        if any(one.misses for desk in self.desks for one in self._held(desk)):
            pause = min(pause, MISS_SECONDS)
        if self.free.tasks and not self.stopping and self._may_begin(now):
            pause = min(pause, *(desk.pause(now) for desk in self.desks))
        elif now - self._trouble < TROUBLE_SECONDS or self.settling.is_stuck:
            pause = min(pause, MISS_SECONDS)
        return pause

    # Signs of life

    def _renew(self, now: float) -> None:
        elapsed = now - self.started
        if elapsed > self.walltime.over:
            self.stop("its time is over")
        if elapsed > self.walltime.last:
            self.stop("its time is over", force=True)
        unwanted = [desk for desk in self.desks if desk.unwanted]
        if now - self._renewed >= self.options.liveness.beat:
            # Every queue must know that we live, or somebody there takes our task.
            at = boot_time()  # before the write: a worker stopped between the two must not look fresher than its lease
            renewed = [desk.lease.renew() for desk in self.desks]
            if all(renewed):
                self._renewed = now
                self.guard.renew(at)
            unwanted = [desk for desk in self.desks if desk.unwanted or not desk.lease.is_wanted()]
        for desk in unwanted:
            desk.unwanted = False
            if not desk.lease.is_wanted():
                self.stop("its worker file was removed")
                desk.lease.put_back()

    def _beat_journals(self, now: float) -> None:
        if now - self._beat >= BEAT_SECONDS:
            self._beat = now
            for _, running in self.running.values():
                running.beats += 1
                running.journal.append_now({"k": "beat", "n": running.beats, "oom": -1})

    def stop(self, why: str, *, force: bool = False) -> None:
        """Take nothing more; give the running tasks back, or let them finish unless they are forced."""
        at_once = self.signals.count > 1
        if self.stopping and not at_once and (self._forced or not force):
            return
        self.stopping = self.stopping or why
        self._stopped = self._stopped or time.monotonic()
        self._forced = self._forced or force
        self.say(f"stopping{' at once' if at_once else ''}: {why}")
        for desk in self.desks:
            desk.checks.close(self.say)
        if self.options.drain and not at_once and not force:
            return
        for key, (_, running) in self.running.items():
            running.order = running.order or "requeued"
            self.guard.kill(key, 0.0 if at_once else self.options.grace)

    # What the guard says

    def _hear(self, now: float) -> None:
        for event in self.guard.poll(0):
            if isinstance(event, Exited):
                self._exited(event, now)
            elif isinstance(event, Fenced):
                self.say("the lease could not be renewed: all tasks were ended")
            elif isinstance(event, GuardDied):
                self._guard_died()

    def _exited(self, event: Exited, now: float) -> None:
        found = self.running.pop(event.key, None)
        if found is not None:
            desk, running = found
            result, text = attempts.outcome(running, event.status, event.how)
            processor = event.user + event.system
            end = End(result, event.reason or text, event.status, event.seconds, event.max_rss, processor)
            self._settle(desk, running, end)
        for desk in self.desks:
            if event.key in desk.checks.held:
                self._checked(desk, event, now)

    def _guard_died(self) -> None:
        self.say("the guard died: tasks are ended and given back")
        self.stopping = "its guard died"
        self._stopped = self._stopped or time.monotonic()
        for key in self.running:
            process.kill_marked(key)
        process.kill_adopted(int(start_ticks(os.getpid()) or 0), set())
        for desk in self.desks:
            desk.checks.close(self.say)
        for key, (desk, running) in list(self.running.items()):
            running.order = running.order or "requeued"
            del self.running[key]
            self._settle(desk, running, End("requeued", "its guard died"))

    def _settle(self, desk: Desk, running: Running, end: End) -> None:
        self.free = self.free.give_back(running.task, running.gpus)
        self.say(f"{end.result} ({end.text}): {running.task.id}")
        self.settling.add(desk.queue, running, end)

    # What the directories say

    def _held(self, desk: Desk) -> list[Running | Checking]:
        mine: list[Running | Checking] = [r for d, r in self.running.values() if d is desk and not r.order]
        return mine + list(desk.checks.held.values())

    def _look(self) -> None:
        for desk in self.desks:
            for one, order in desk.misplaced(self._held(desk)):
                if isinstance(one, Running):
                    self._obey(one, order)
                else:
                    desk.checks.obey(one, order)

    def _obey(self, running: Running, order: Order) -> None:
        if order is Order.STOP:
            self.guard.stop(running.key)
            running.stopped = True
            self.say(f"paused: {running.task.id}")
        elif order is Order.CONTINUE:
            self.guard.resume(running.key)
            running.stopped = False
            self.say(f"goes on: {running.task.id}")
        elif order in (Order.KILL, Order.DROP):
            running.order = "killed" if order is Order.KILL else "cancelled"
            self.guard.kill(running.key, 0.0)

    # What may start

    def _may_begin(self, now: float) -> bool:
        if (self.options.one_task and self.taken) or self.stopping or self.settling.is_stuck:
            return False
        return now - self._trouble >= TROUBLE_SECONDS and self.walltime.may_begin(now - self.started)

    def _start_some(self, now: float) -> None:
        for (desk, found), trouble in self.trees.done():
            if trouble:
                self.say(f"waits: {found.place.id}: {trouble}")
                desk.waiting.put_aside(found, trouble, REST_SECONDS)
            else:
                desk.waiting.again(found.place.name)
        for desk in self.desks:
            while self.free.tasks and self._may_begin(now):
                found = desk.waiting.next(self.free, now)
                if found is None:
                    break
                if found.doomed:
                    self._fail_unrun(desk, found)
                elif self._has_double(desk, found.place.id):
                    desk.waiting.put_aside(found, "another file of it is in a worker's hands", HOLD_SECONDS)
                elif self._may_run(desk, found, now):
                    self._start(desk, found, found.place)
            if self.free.tasks and self._may_begin(now):
                try:
                    desk.checks.launch(now)
                except OSError as error:
                    self._refused("a check", error)

    def _has_double(self, desk: Desk, task: str) -> bool:
        """An editor saved it under its old name after it was taken, or somebody made a copy. They must not run at
        once; and if the first is ours, the second claim could bear the same name and would overwrite its file."""
        mine = [running.place.id for _, running in self.running.values()]
        return task in mine or task in self.settling.ids or desk.mirror.is_owned(task)

    def _may_run(self, desk: Desk, found: Candidate, now: float) -> bool:
        """Whether all that it needs is there. If not, it waits aside."""
        task = found.file.task
        if not self.walltime.may_begin(now - self.started, task.timeout):
            desk.waiting.put_aside(found, "its timeout is longer than this worker's time", hopeless=True)
            return False
        if task.code and not self.trees.has(task.code):
            desk.waiting.put_aside(found, "its code is being unpacked")
            self.trees.ask(task.code, (desk, found))
            return False
        return not task.check or desk.checks.allows(found, now)

    def _fail_unrun(self, desk: Desk, found: Candidate) -> None:
        token = Token(self.name, len(found.file.attempts) + 1)
        try:
            mine = desk.queue.claim(found.place, token)
        except OSError as error:
            self._refused(found.place.id, error)
            return
        if mine is not None:
            desk.mirror.moved(found.place, mine)
            self._not_run(desk, mine, found.file, found.doomed)

    def _not_run(self, desk: Desk, mine: Place, file: TaskFile, why: str) -> None:
        """It fails without having run."""
        assert mine.token is not None
        number = len(file.attempts) + 1
        note = Attempt(number=number, worker=self.name, outcome="failed", exit=f"not run: {why}")
        self.say(f"failed (not run: {why}): {mine.id}")
        self.settling.settle(Ending(desk.queue, file, note, mine.token, mine.id, mine))

    def _refused(self, what: str, error: OSError) -> None:
        """A disk refused. What is ours by now is given back at the next look at what was left behind."""
        if not isinstance(error, FileNotFoundError):  # then a person was faster
            self.say(f"{what} cannot be begun now ({error.strerror})")
            self._trouble = time.monotonic()

    def _checked(self, desk: Desk, event: Exited, now: float) -> None:
        held = None
        try:
            held = desk.checks.ended(event, now)
            if held is None:
                return
            if self._may_begin(now) and self.free.fits(held.found.file.task):
                self._start(desk, held.found, held.place)
            else:
                desk.checks.release(held)
        except OSError as error:
            self._refused("a checked task", error)

    def _start(self, desk: Desk, found: Candidate, at: Place) -> None:
        """Claim a task, out of the queue or after its check, and run it."""
        mine = None
        try:
            mine = desk.queue.claim(at, at.token or Token(self.name, len(found.file.attempts) + 1))
            if mine is None:
                desk.mirror.forget(at.state, at.name)
                return
            desk.mirror.moved(at, mine)
            if desk.queue.has_rival(mine):
                desk.waiting.put_aside(found, "another file of it is in a worker's hands", HOLD_SECONDS)
                self._give_back(desk, mine)
                return
            file = self._as_claimed(desk, mine, found)
            if file is None:
                self._give_back(desk, mine)
                return
            _, gpus = self.free.take(file.task)
            running, output = attempts.begin(self.home, mine, file, self.name, gpus, self.cache)
        except (PaddockError, OSError) as error:
            self._not_begun(desk, found, mine, error)
            return
        self.taken += 1
        self.free, _ = self.free.take(file.task)
        try:
            environ = attempts.environment(running, self.home, visible(file.task, gpus, self.options.slots.tasks))
            command = attempts.argv(file.task.command, running.directory)
            self.running[running.key] = (desk, running)
            self.guard.spawn(running.key, command, environ, output, file.task.timeout, self.options.grace)
        finally:
            os.close(output)
        self.say(f"running: {mine.id}")

    def _as_claimed(self, desk: Desk, mine: Place, found: Candidate) -> TaskFile | None:
        """The file as it is now that it is ours; None when it was edited in between, so that it has to wait after
        all."""
        if mark(os.stat(desk.queue.file(mine), follow_symlinks=False)) == found.mark:
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

    # The end

    def _leave(self) -> None:
        for desk in self.desks:
            desk.checks.close(self.say)
        self.guard.close()
        self.say("ended")
        for desk in self.desks:
            desk.mirror.close()
            desk.lease.drop(leave=bool(self.settling or self.running))


def _needs(file: TaskFile) -> tuple[object, ...]:
    task = file.task
    return task.after, task.check, task.code, task.gpus, task.cpus, task.mem, task.timeout

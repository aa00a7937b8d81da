"""A worker: takes tasks, has them run under a guard, watches their files, and puts them where they belong.

One thread, one loop. Each round: what the guard says, what the directories say, what may start. A disk that hangs stops
this loop and nothing else: the guard, which touches no disk, then ends the tasks before others may take them.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from paddock.errors import Damaged, PaddockError
from paddock.queue import lifecycle
from paddock.queue.directory import DISK_ERRORS, DirectoryQueue
from paddock.queue.lease import Lease, Watch, worker_name
from paddock.queue.lifecycle import ACTIVE, CHECKING, FAILED, PAUSED, QUEUED, Liveness, Order, Place, Token, ended
from paddock.queue.task import Attempt, render_attempt
from paddock.record.layout import Home
from paddock.record.process import start_ticks
from paddock.work import attempt as attempts
from paddock.work import process
from paddock.work.attempt import Running
from paddock.work.checks import Checks
from paddock.work.codetree import work_directory
from paddock.work.guard import Exited, Fenced, Guard, GuardDied
from paddock.work.guarding import boot_time
from paddock.work.reclaim import Reclaim
from paddock.work.settle import LOOK, End, Settling
from paddock.work.signals import Signals
from paddock.work.slots import Slots, visible
from paddock.work.waiting import Candidate, Waiting
from paddock.work.wake import Wake

IDLE_SECONDS, POLL_SECONDS = 5.0, 1.0  # between rounds: where the kernel wakes us, and where it does not
BEAT_SECONDS = 5.0  # of the runs' journals
MISS_SECONDS = 0.25  # between two listings without a file before it counts as removed: an editor's save takes less
TROUBLE_SECONDS = 5.0  # nothing is begun for so long after a disk has refused
LAST_TRIES_SECONDS = 30.0  # for results that the disk does not take, when the worker has to leave
DEFAULT_LIVENESS = Liveness()


@dataclass(frozen=True)
class Options:
    slots: Slots
    one_task: bool = False
    persist: bool = True
    drain: bool = False  # at the end let tasks finish instead of giving them back
    until: float = 0.0  # seconds from the start; 0 is for ever
    margin: float = 60.0  # seconds before `until` in which nothing is begun
    grace: float = 30.0
    liveness: Liveness = DEFAULT_LIVENESS


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
        self.guard = Guard.start(options.liveness.fence)  # before anything else: it forks
        self.name = worker_name(",".join(options.slots.gpus))
        self.free = options.slots
        self.started = time.monotonic()
        self.running: dict[str, tuple[DirectoryQueue, Running]] = {}
        self.checks = Checks()
        self.taken = 0
        self.stopping = ""
        self._renewed = 0.0
        self._beat = 0.0
        self._trouble = -1e9  # when a disk refused
        self._stopped = 0.0  # when we began to stop
        for queue in queues:
            queue.prepare()
        self.queues = queues
        gpus, tasks = ",".join(options.slots.gpus), options.slots.tasks
        self.leases = [Lease(q.workers, self.name, gpus, tasks, self.guard.pid) for q in queues]
        watches = [Watch(q.workers, options.liveness.reclaim) for q in queues]
        self.reclaims = [Reclaim(q, w, self.name, self.say) for q, w in zip(queues, watches, strict=True)]
        self.settling = Settling(self.name, self.say)
        self.waiting = [Waiting(q, self.say) for q in queues]
        directories = [q.directory(s) for q in queues for s in (QUEUED, ACTIVE, PAUSED)] + [q.workers for q in queues]
        self.wake = Wake(directories)

    def say(self, text: str) -> None:
        self._tell(text)
        for lease in self.leases:
            lease.log(text)

    # The loop

    def run(self) -> int:
        """Work until there is a reason to stop. 0 when all went well."""
        self.signals = Signals()
        try:
            self.say("started")
            with selectors.DefaultSelector() as selector:
                selector.register(self.guard.fileno(), selectors.EVENT_READ)
                selector.register(self.signals.fd, selectors.EVENT_READ)
                if self.wake.fd >= 0:
                    selector.register(self.wake.fd, selectors.EVENT_READ)
                while True:
                    self._round()  # first: what a dead worker left may be all there is
                    if self._over():
                        break
                    selector.select(self._pause())
                    self.wake.drain()
                    for name in self.signals.read():
                        self.stop(f"signal {name}")
            return 0
        finally:
            self._leave()
            self.signals.restore()

    def _round(self) -> None:
        self._renew()
        self._hear()
        self._look()
        self.settling.work()
        if not self.stopping:
            for reclaim in self.reclaims:
                reclaim.look({*self.running, *self.settling.keys})
            self._start_some()
        self._beat_journals()

    def _over(self) -> bool:
        if self.running:
            return False
        if self.settling:
            return bool(self.stopping) and time.monotonic() - self._stopped > LAST_TRIES_SECONDS
        if self.stopping:
            return True
        if self.options.one_task and self.taken:
            return True
        return not self.options.persist and not any(self._may_come(q) for q in self.queues)

    def _may_come(self, queue: DirectoryQueue) -> bool:
        """Tasks that wait for a check or for each other count: they may become runnable yet."""
        listing = queue.list([QUEUED, CHECKING])
        return bool(listing.places) or not listing.sure

    def _pause(self) -> float:
        if self.checks.busy:
            return 0.05
        if self.settling or any(running.misses for _, running in self.running.values()):
            return MISS_SECONDS
        waits = any(len(w) for w in self.waiting)
        return IDLE_SECONDS if self.wake.fd >= 0 and not waits else POLL_SECONDS

    # Signs of life

    def _renew(self) -> None:
        now = time.monotonic()
        if now - self._renewed < self.options.liveness.beat and self._renewed:
            return
        # Every queue must know that we live, or somebody there takes our task.
        at = boot_time()  # before the write: a worker stopped between the two must not look fresher than its lease
        renewed = [lease.renew() for lease in self.leases]
        if all(renewed):
            self._renewed = now
            self.guard.renew(at)
        for lease in self.leases:
            if not lease.is_wanted():
                self.stop("its worker file was removed")
                lease.put_back()
        if self.options.until and now - self.started > self.options.until:
            self.stop("its time is over")

    def _beat_journals(self) -> None:
        now = time.monotonic()
        if now - self._beat >= BEAT_SECONDS:
            self._beat = now
            for _, running in self.running.values():
                running.beats += 1
                running.journal.append_now({"k": "beat", "n": running.beats, "oom": -1})

    def stop(self, why: str) -> None:
        """Take nothing more; give the running tasks back, or let them finish."""
        at_once = self.signals.count > 1
        if self.stopping and not at_once:
            return
        self.stopping = self.stopping or why
        self._stopped = self._stopped or time.monotonic()
        self.say(f"stopping{' at once' if at_once else ''}: {why}")
        if self.options.drain and not at_once:
            return
        for key, (_, running) in self.running.items():
            running.order = running.order or "requeued"
            self.guard.kill(key, 0.0 if at_once else self.options.grace)

    # What the guard says

    def _hear(self) -> None:
        for event in self.guard.poll(0):
            if isinstance(event, Exited):
                found = self.running.pop(event.key, None)
                if found is not None:
                    self._ended(*found, event)
            elif isinstance(event, Fenced):
                self.say("the lease could not be renewed: all tasks were ended")
            elif isinstance(event, GuardDied):
                self._guard_died()

    def _guard_died(self) -> None:
        self.say("the guard died: tasks are ended and given back")
        self.stopping = "its guard died"
        self._stopped = self._stopped or time.monotonic()
        for key in self.running:
            process.kill_marked(key)
        process.kill_adopted(int(start_ticks(os.getpid()) or 0), self.checks.pids)
        for key, (queue, running) in list(self.running.items()):
            running.order = running.order or "requeued"
            del self.running[key]
            self._settle(queue, running, End("requeued", "its guard died"))

    def _ended(self, queue: DirectoryQueue, running: Running, event: Exited) -> None:
        result, text = attempts.outcome(running, event.status, event.how)
        processor = event.user + event.system
        found = End(result, event.reason or text, event.status, event.seconds, event.max_rss, processor)
        self._settle(queue, running, found)

    def _settle(self, queue: DirectoryQueue, running: Running, end: End) -> None:
        self.free = self.free.give_back(running.gpus)
        self.say(f"{end.result} ({end.text}): {running.task.id}")
        self.settling.add(queue, running, end)

    # What the directories say

    def _look(self) -> None:
        for queue in {id(q): q for q, _ in self.running.values()}.values():
            mine = [(key, r) for key, (q, r) in self.running.items() if q is queue]
            listing = queue.list([ACTIVE, PAUSED])
            here = {(p.id, p.token) for p in listing.places}
            if any((r.place.id, r.place.token) not in here for _, r in mine):
                listing = queue.list(LOOK)
            for key, running in mine:
                self._obey(key, running, listing.places, listing.sure)

    def _obey(self, key: str, running: Running, places: list[Place], sure: bool) -> None:
        if running.order:
            return
        found = [p for p in places if p.id == running.place.id]
        token = running.place.token
        assert token is not None
        order = lifecycle.judge(token, found, stopped=running.stopped, sure=sure, misses=running.misses)
        present = any(p.token == token for p in found)
        now = time.monotonic()
        if present:
            running.misses = 0
        elif sure and now - running.missed >= MISS_SECONDS:
            running.misses, running.missed = running.misses + 1, now
        if order is Order.STOP:
            self.guard.stop(key)
            running.stopped = True
            self.say(f"paused: {running.task.id}")
        elif order is Order.CONTINUE:
            self.guard.resume(key)
            running.stopped = False
            self.say(f"goes on: {running.task.id}")
        elif order in (Order.KILL, Order.DROP):
            running.order = "killed" if order is Order.KILL else "cancelled"
            self.guard.kill(key, 0.0)

    # What may start

    def _start_some(self) -> None:
        if (self.options.one_task and self.taken) or self.settling:
            return
        if time.monotonic() - self._trouble < TROUBLE_SECONDS:
            return
        if self.options.until and time.monotonic() - self.started > self.options.until - self.options.margin:
            return
        for queue, waiting in zip(self.queues, self.waiting, strict=True):
            if self.free.tasks:
                waiting.look()
                self._start_from(queue, waiting)

    def _start_from(self, queue: DirectoryQueue, waiting: Waiting) -> None:
        for candidate in list(waiting.candidates()):
            if not self.free.tasks or (self.options.one_task and self.taken):
                return
            ready, doomed = waiting.verdict(candidate)
            if doomed:
                self._fail_unrun(queue, candidate, doomed)
                waiting.forget(candidate.place)
                continue
            task = candidate.file.task
            if ready and self.free.fits(task) and (not task.check or self.checks.passed(task.check, task.cwd)):
                waiting.forget(candidate.place)
                self._start(queue, candidate)

    def _fail_unrun(self, queue: DirectoryQueue, candidate: Candidate, why: str) -> None:
        token = Token(self.name, len(candidate.file.attempts) + 1)
        try:
            mine = queue.claim(candidate.place, token)
            if mine is not None:
                note = Attempt(number=token.epoch, worker=self.name, outcome="failed", exit=f"not run: {why}")
                queue.append(mine, render_attempt(note, candidate.file.fence))
                queue.move(mine, ended(mine, FAILED))
                self.say(f"failed (not run: {why}): {mine.id}")
        except OSError as error:
            self._refused(candidate.place, error)

    def _refused(self, place: Place, error: OSError) -> None:
        """A disk refused. What is ours by now is given back at the next look at what was left behind."""
        if isinstance(error, FileNotFoundError):
            return  # a person was faster
        self.say(f"{place.id} cannot be begun now ({error.strerror})")
        self._trouble = time.monotonic()

    def _start(self, queue: DirectoryQueue, candidate: Candidate) -> None:
        token = Token(self.name, len(candidate.file.attempts) + 1)
        mine = None
        try:
            mine = queue.claim(candidate.place, token)
            if mine is None:
                return
            file = queue.read(mine)  # it may have been edited between the look and the claim
            running = attempts.begin(self.home, mine, file, self.name, self.free.take(file.task)[1])
        except (Damaged, OSError) as error:
            if isinstance(error, OSError):
                self._refused(candidate.place, error)
            if mine is not None:
                with contextlib.suppress(OSError):
                    queue.move(mine, ended(mine, QUEUED))
            return
        self.taken += 1
        self.free, _ = self.free.take(file.task)
        self._launch(queue, running)

    def _launch(self, queue: DirectoryQueue, running: Running) -> None:
        task = running.task
        try:
            directory = work_directory(task, self.home, running.run, self.cache)
            output = os.open(running.output, os.O_CREAT | os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC, 0o644)
        except (PaddockError, OSError) as error:
            away = isinstance(error, OSError) and error.errno in DISK_ERRORS
            if away:
                self._trouble = time.monotonic()
            self._settle(queue, running, End("requeued" if away else "failed", f"not run: {error}"))
            return
        try:
            environ = attempts.environment(running, self.home, visible(task, running.gpus, self.options.slots.tasks))
            command = attempts.argv(task.command, directory)
            self.running[running.key] = (queue, running)
            self.guard.spawn(running.key, command, environ, output, task.timeout, self.options.grace)
        finally:
            os.close(output)
        self.say(f"running: {task.id}")

    # The end

    def _leave(self) -> None:
        self.checks.close()
        self.guard.close()
        self.wake.close()
        self.say("ended")
        for lease in self.leases:
            lease.drop(leave=bool(self.settling or self.running))

"""A worker: takes tasks, has them run under a guard, watches their files, and puts them where they belong.

One loop. Each round: what the guard says, what the directories say, what may start. A disk that hangs stops this loop
and nothing else: the guard, which touches no disk, then ends the tasks before others may take them. Beside the loop
there are a thread that brings results to the disk (settle.py) and one for each code snapshot that is being unpacked.
"""

from __future__ import annotations

import contextlib
import gc
import math
import os
import select
import time
from collections.abc import Callable, Sequence, Set
from pathlib import Path
from typing import TYPE_CHECKING

from paddock.errors import HomeError
from paddock.queue.directory import DirectoryQueue
from paddock.queue.lease import Lease, worker_name
from paddock.queue.lifecycle import Order
from paddock.record.layout import Home
from paddock.record.process import start_ticks
from paddock.work.attempts import attempt as attempts
from paddock.work.attempts.attempt import Running
from paddock.work.attempts.settle import End, Settling
from paddock.work.attempts.spares import Spares
from paddock.work.notices.marks import Marks
from paddock.work.notices.notice import Notices
from paddock.work.options import Options
from paddock.work.processes import process
from paddock.work.processes.clock import boot_time
from paddock.work.processes.guard import Exited, Fenced, Guard, GuardDied
from paddock.work.queues.checks import Checking
from paddock.work.queues.desk import MISS_SECONDS, Desk
from paddock.work.queues.mirror import POLL_SECONDS
from paddock.work.signals import Signals
from paddock.work.silence import Silence
from paddock.work.starting import Starting
from paddock.work.usage.metering import Metering

if TYPE_CHECKING:
    from paddock.work.ensemble.alone import Alone
    from paddock.work.ensemble.gangs import Gangs

__all__ = ["Options", "Worker"]

BEAT_SECONDS = 5.0  # of the runs' journals
BUSY_SECONDS = 0.05  # between two looks at the directories while nothing could start anyway
SAME_MOMENT_SECONDS = 0.3  # between the signals that end a job's processes one by one
LAST_TRIES_SECONDS = 30.0  # for results that the disk does not take, when the worker has to leave


class Worker:
    def __init__(
        self,
        home: Home,
        queues: list[DirectoryQueue],
        options: Options,
        cache: Path,
        tell: Callable[[Sequence[str]], None] = lambda texts: None,
    ) -> None:
        """`tell` gets what goes to the worker's log: for a person who looks on."""
        self.home, self.options, self.cache, self._tell = home, options, cache, tell
        process.adopt_orphans()  # should the guard be killed, its tasks come to us
        # Before anything else: it forks.
        self.guard = Guard.start(options.liveness.fence, env=attempts.worker_environment(), starts=False)
        self.name = worker_name(",".join(options.slots.gpus))
        self.notices = Notices(options.notify, self.name, self.say, Marks(home))
        self.settling = Settling(self.name, self.say, self.notices)
        self.starting = Starting(home, cache, options, self.guard, self.settling, self.notices, self.name, self.say)
        self.running = self.starting.running
        self.metering = Metering(home, self.name, self.guard.pid, options.usage, self.running)
        self.stopping = ""
        self.is_over = False  # who fills its queue says that nothing will come any more; then its file is removed
        self._refusal = ""  # what the disk said last
        self._renewed = -1e9
        self.silence = Silence(options.liveness.reclaim)
        self._beat = 0.0
        self._stopped = 0.0  # when we began to stop, or something last ran after that
        self._forced = False
        self._news = -1e9  # when something changed in a directory
        self._said: list[str] = []  # what is to be written to the log
        self._logged = -1e9  # when that was done last
        self.desks: list[Desk] = []
        try:
            self._take_desks(queues)
        except BaseException as error:
            self.guard.close()
            if isinstance(error, OSError):
                raise HomeError(f"This queue cannot be worked on ({error}).", hint="See to the disk.") from None
            raise

    def _take_desks(self, queues: list[DirectoryQueue]) -> None:
        options = self.options
        for queue in queues:
            queue.prepare()
            has = options.slots
            lease = Lease(
                queue.workers, self.name, ",".join(has.gpus), has.tasks, self.guard.pid, cpus=has.cpus, mem=has.mem
            )
            desk = Desk(
                queue, lease, self.guard, has, options.liveness, self.say, listen=options.listen, only=options.only
            )
            desk.reclaim.given_up = self.notices.given_up
            self.desks.append(desk)
            self.gangs.serve(desk)

    @property
    def gangs(self) -> Gangs | Alone:
        return self.starting.gangs

    @property
    def spares(self) -> Spares:
        return self.starting.spares

    @property
    def taken(self) -> int:
        """How many tasks it has begun."""
        return self.starting.taken

    def say(self, text: str) -> None:
        """To the log, at the end of a round: a line by itself would cost a short task more than its claim."""
        self._said.append(text)

    def _log(self, now: float) -> None:
        """While one short task follows another, a line may be this late: each by itself costs two writes."""
        if self._said and not (self._is_busy(now) and now - self._logged < BUSY_SECONDS):
            said, self._said, self._logged = self._said, [], now
            self._tell(said)
            for desk in self.desks:
                desk.lease.log(*said)

    # The loop

    def run(self) -> int:
        """Work until there is a reason to stop. 0 when all went well."""
        self.signals = Signals()
        self.metering.start()
        gc.freeze()  # what is there now stays: it need not be looked through again and again
        try:
            self.say("started")
            poller = select.poll()
            poller.register(self.guard.fileno(), select.POLLIN)
            poller.register(self.signals.fd, select.POLLIN)
            poller.register(self.settling.fd, select.POLLIN)
            listening: set[int] = set()
            ready = {self.guard.fileno(), self.signals.fd, self.settling.fd}
            while True:
                now = time.monotonic()
                self._try_round(now, ready)  # first: what a dead worker left may be all there is
                self._log(now)
                if self._over():
                    break
                # While nothing could start, news of what others do can wait a moment, and comes in one go.
                wanted = set() if self._is_busy(now) else {desk.mirror.fd for desk in self.desks} - {-1}
                if wanted != listening:
                    for fd in listening - wanted:
                        poller.unregister(fd)
                    for fd in wanted - listening:
                        poller.register(fd, select.POLLIN)
                    listening = wanted
                ready = {fd for fd, _ in poller.poll(self._pause(now) * 1000)}
            return 0
        finally:
            self._leave()
            self.signals.restore()

    def _try_round(self, now: float, ready: Set[int]) -> None:
        """A disk that refuses where nobody foresaw it costs a round, not the tasks that run."""
        try:
            self._round(now, ready)
        except OSError as error:
            if str(error) != self._refusal:
                self._refusal = str(error)
                self.say(f"the disk refuses: {error}")
            with contextlib.suppress(OSError):
                self.settling.note()
            time.sleep(MISS_SECONDS)

    def _round(self, now: float, ready: Set[int]) -> None:
        """`ready`: the descriptors that have news."""
        if self.signals.fd in ready:
            for name in self.signals.read():
                self.stop(f"signal {name}")
        self._renew(now)
        if self.guard.fileno() in ready:
            self._hear(now)
        if self.settling.fd in ready:
            self.settling.hear()
        self.settling.work()  # before the look at the directories, so that they show what it has moved
        for desk in self.desks:
            if desk.is_stale(now, ready) and desk.refresh(now):
                self._news = now
                self._leave_if_unwanted(desk)
        self._look()
        self.starting.look_at_gangs(now, bool(self.stopping))
        if not self.stopping:
            for desk in self.desks:
                if desk.reclaim.is_due(now):
                    desk.reclaim.look(desk.busy({*self.running, *self.settling.keys}))
            self.starting.begin(self.desks, now)
            self.spares.work(self.starting.free, now)
        self.settling.note()  # while what was begun above is being started
        if not self.running:
            self.settling.hurry()
        self.notices.work([] if self.running else [desk.queue for desk in self.desks if desk.is_empty])
        self._beat_journals(now)

    def _is_busy(self, now: float) -> bool:
        return self.starting.free.tasks == 0 and now - self._news < BUSY_SECONDS

    def _over(self) -> bool:
        if self.running or self.gangs.seats:
            self._stopped = self._stopped and time.monotonic()
            return False
        if self.settling:
            return bool(self.stopping) and time.monotonic() - self._stopped > LAST_TRIES_SECONDS
        if self.stopping or self.is_over:
            return True
        if self.options.one_task and self.taken:
            return True
        if self.options.persist or any(desk.waiting.may_come() for desk in self.desks):
            return False
        return not any(desk.may_come() for desk in self.desks)

    def _pause(self, now: float) -> float:
        """Seconds until something is to be done although nothing happens."""
        left = self.starting.walltime.over - self.starting.time
        pause = min(self.options.liveness.look, max(left, 0.1), self.gangs.pause)
        if self._is_busy(now):
            pause = min(pause, BUSY_SECONDS)
        if self.starting.trees.busy:
            pause = min(pause, 0.05)
        if any(desk.mirror.fd < 0 for desk in self.desks):
            pause = min(pause, POLL_SECONDS)
        if any(one.misses for desk in self.desks for one in self._held(desk)):
            pause = min(pause, MISS_SECONDS)
        if self.starting.room(now).tasks and not self.stopping and self.starting.may_begin(now):
            pause = min(pause, self.spares.pause(now), *(desk.pause(now) for desk in self.desks))
        elif self.starting.is_resting(now):
            pause = min(pause, MISS_SECONDS)
        return pause

    # Signs of life

    def _renew(self, now: float) -> None:
        elapsed, walltime = self.starting.time, self.starting.walltime
        if elapsed > walltime.over:
            self.stop("its time is over")
        if elapsed > walltime.last:
            self.stop("its time is over", force=True)
        if now - self._renewed >= self.options.liveness.beat:
            # Every queue must know that we live, or somebody there takes our task.
            at = boot_time()  # before the write: a worker stopped between the two must not look fresher than its lease
            renewed = [desk.lease.renew() for desk in self.desks]
            if all(renewed):
                self._renewed = now
                self.silence.heard(at)
                self.guard.renew(min(at, self.options.vouched()) if self.options.vouched else at)
            for desk in self.desks:
                desk.unwanted = True  # where the kernel does not tell, the file itself does
                self._leave_if_unwanted(desk)

    def _leave_if_unwanted(self, desk: Desk) -> None:
        """Removing a worker's file is how people stop it; and how others bury one that they took for dead."""
        unwanted, desk.unwanted = desk.unwanted, False
        if unwanted and not desk.lease.is_wanted():
            if desk.lease.put_back() and self.silence.explains() and not self.stopping:
                self.say("its worker file was removed while nothing was heard of it: it is there again")
            elif not self.is_over:
                self.stop("its worker file was removed")

    def _beat_journals(self, now: float) -> None:
        if now - self._beat >= BEAT_SECONDS:
            self._beat = now
            for _, running in self.running.values():
                running.beats += 1
                running.journal.append_now({"k": "beat", "n": running.beats, "oom": -1})
            for key, record in self.metering.take():
                if key in self.running:  # nothing comes behind a journal's last record
                    self.running[key][1].journal.append_now(record)

    def stop(self, why: str, *, force: bool = False) -> None:
        """Take nothing more; give the running tasks back, or let them finish unless they are forced."""
        at_once = self.signals.count > 1
        if self.stopping and not at_once and (self._forced or not force):
            return
        self.stopping = self.stopping or why
        self._stopped = self._stopped or time.monotonic()
        self._forced = self._forced or force
        self.say(f"stopping{' at once' if at_once else ''}: {why}")
        self.spares.close()
        for desk in self.desks:
            desk.checks.close(self.say)
        drain = self.options.drain and not at_once and not force
        self.gangs.stop(at_once=at_once, drain=drain)
        if drain:
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

    def _listen(self) -> None:
        """A task has died, perhaps of what ends us too: then it is given back, and has not failed."""
        if select.select([self.signals.fd], [], [], SAME_MOMENT_SECONDS)[0]:
            for name in self.signals.read():
                self.stop(f"signal {name}")

    def _exited(self, event: Exited, now: float) -> None:
        if self.spares.exited(event, now):
            return
        if event.status and event.how == "itself" and not self.stopping and attempts.is_one_of_many():
            self._listen()
        found = self.starting.ended(event.key)
        if found is not None:
            desk, running = found
            result, text = attempts.outcome(running, event.status, event.how)
            processor = event.user + event.system
            end = End(result, event.reason or text, event.status, event.seconds, event.max_rss, processor)
            self._settle(desk, running, end)
        self.gangs.heard(event)
        for desk in self.desks:
            if event.key in desk.checks.held:
                self.starting.checked(desk, event, now)

    def _guard_died(self) -> None:
        self.say("the guard died: tasks are ended and given back")
        self.stopping = "its guard died"
        self._stopped = self._stopped or time.monotonic()
        self.spares.close()
        for key in self.running:
            process.kill_marked(key)
        process.kill_adopted(int(start_ticks(os.getpid()) or 0), set())
        for desk in self.desks:
            desk.checks.close(self.say)
        self.gangs.guard_died()
        for key, (desk, running) in list(self.running.items()):
            running.order = running.order or "requeued"
            if key in self.gangs.led:
                continue  # until the last of its ranks is gone
            self.starting.ended(key)
            self._settle(desk, running, End("lost", "its guard died"))  # the task may be why: this worker is lost

    def _settle(self, desk: Desk, running: Running, end: End) -> None:
        self.say(f"{end.result} ({end.text}): {running.task.label}")
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
            self.say(f"paused: {running.task.label}")
        elif order is Order.CONTINUE:
            self.guard.resume(running.key)
            running.stopped = False
            self.say(f"goes on: {running.task.label}")
        elif order in (Order.KILL, Order.DROP):
            running.order = "killed" if order is Order.KILL else "cancelled"
            self.guard.kill(running.key, 0.0)

    # The end

    def _leave(self) -> None:
        with contextlib.suppress(OSError):
            self.settling.note()
        for desk in self.desks:
            desk.checks.close(self.say)
        self.guard.close()
        self.metering.close()
        self.notices.close()
        self.say("ended")
        self._log(math.inf)
        for desk in self.desks:
            desk.mirror.close()
            desk.lease.drop(leave=bool(self.settling or self.running or self.gangs.seats) or desk.has_claims())

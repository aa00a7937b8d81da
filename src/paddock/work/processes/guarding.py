"""The guard: the process that is the parent of all of a worker's tasks, and ends them when it must.

It touches no disk that could hang: it opens files of /proc and of the control groups only, and what may wait for a disk
all the same (closing a task's output, writing to stderr) is a second thread's chore. So it can always end the tasks in
time: when the worker says so, when the worker is gone, when the worker's lease was not renewed.
"""

from __future__ import annotations

import array
import gc
import marshal
import os
import queue
import select
import signal
import socket
import sys
import threading
import time
import warnings
from functools import partial
from typing import Any

from paddock.work.processes import cgroup, descriptors, process
from paddock.work.processes.clock import boot_time
from paddock.work.processes.grouping import Chore, Grouping
from paddock.work.processes.guarded import Guarded, Lineage, Phase
from paddock.work.processes.process import Process

MESSAGE_BYTES = 1 << 16
LEFTOVER_GRACE = 1.0  # seconds that processes have which a task left behind when it ended by itself
_TICK = 1.0  # seconds at most between two looks at the fence: a timer does not run while a laptop sleeps
_RECEIVE, _SEND = (int(socket.MSG_DONTWAIT | flag) for flag in (socket.MSG_CMSG_CLOEXEC, socket.MSG_NOSIGNAL))
_RIGHTS_BYTES = socket.CMSG_SPACE(4 * array.array("i").itemsize)  # of up to four descriptors
_TICKS = os.sysconf("SC_CLK_TCK")  # in which the kernel tells when a process started, a second
_USED = 32  # descriptors that are kept before they are closed together
_NOT_STARTED = 127 << 8  # the wait status of a shell that could not find a command
_IGNORED = ("TERM", "INT", "HUP", "QUIT", "USR1", "USR2", "ALRM", "PIPE", "TSTP", "TTIN", "TTOU")


class GuardProcess:
    def __init__(
        self, channel: socket.socket, fence: float, use_cgroups: bool, env: dict[str, str], starts: bool
    ) -> None:
        self.channel, self.fence, self.env, self.starts = channel, fence, env, starts
        self.tasks: dict[str, Guarded] = {}
        self.leaders: dict[int, Guarded] = {}
        self.lineage = Lineage(os.getpid(), self.tasks, self.leaders)
        self.renewed = boot_time()
        self.fenced = False
        self.leaving = 0.0  # when we began to leave
        self.outbox: list[bytes] = []
        self.unremoved: list[cgroup.Cgroup] = []
        self.chores: queue.SimpleQueue[Chore] = queue.SimpleQueue()  # for the second thread
        self.used: list[int] = []  # descriptors to be closed, by that thread
        self.wake, write = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        signal.set_wakeup_fd(write, warn_on_full_buffer=False)
        base = cgroup.usable() if use_cgroups else ""
        self.grouping = Grouping(base, self.lineage, self.chores, partial(os.write, write, b"g"))
        threading.Thread(target=self._do_chores, daemon=True).start()

    # The loop

    def serve(self) -> None:
        poller = select.poll()
        poller.register(self.wake, select.POLLIN)
        watched = -1
        while not self._may_leave():
            wanted = 0 if self.leaving else select.POLLIN | (select.POLLOUT if self.outbox else 0)
            if wanted != watched:
                if wanted:
                    poller.register(self.channel, wanted)
                elif watched > 0:
                    poller.unregister(self.channel)
                watched = wanted
            try:
                self._turn({fd for fd, _ in poller.poll(self._pause() * 1000)})
            except Exception:
                self._log()
                time.sleep(0.01)

    def _turn(self, ready: set[int]) -> None:
        """`ready`: the descriptors that have news; none when a time is over."""
        died = self.wake in ready or not ready
        if self.wake in ready:
            os.read(self.wake, 512)  # should there be more, it is ready again
        if not self.leaving and (self.channel.fileno() in ready or not ready):
            self._flush()
            self._receive()
        reaped = died and self._reap()
        if len(self.used) >= _USED or not ready:
            self._close_used()
        self._check_fence(boot_time())
        now = time.monotonic()
        for task in list(self.tasks.values()):
            try:
                self._step(task, now)
            except Exception:
                self._log()
        if reaped or self.leaving or self.lineage.has_orphans:
            for stray in self.lineage.strays():
                process.send(stray, signal.SIGKILL)
        self.unremoved = [group for group in self.unremoved if not group.remove()]

    def _pause(self) -> float:
        """Seconds until something is to be done although nothing happens."""
        if not self.tasks:
            return 0.02 if self.leaving or self.unremoved else _TICK if self.used else 3600.0
        now = time.monotonic()
        pause = min(_TICK, self.fence / 4) if self.fence > 0 else _TICK * 10
        for task in self.tasks.values():
            if task.phase is Phase.KILLING:
                pause = min(pause, task.sweep_at - now)
            elif task.phase is Phase.TERMINATING:
                pause = min(pause, task.deadline - now)
            elif task.timeout > 0 and not task.stopped_at:
                pause = min(pause, task.began + task.timeout - now)
            due = self.grouping.due(task)
            pause = pause if due is None else min(pause, due - now)
        return max(pause, 0.001)

    def _may_leave(self) -> bool:
        if not self.leaving or self.tasks:
            return False
        return not self.lineage.orphans() or time.monotonic() - self.leaving > process.PATIENCE

    def _leave(self) -> None:
        self.leaving = self.leaving or time.monotonic()
        for task in self.tasks.values():
            self._kill(task, "killed")

    # Talking

    def _receive(self) -> None:
        for _ in range(64):  # then see to the processes
            fds = array.array("i")
            try:
                # Not socket.recv_fds: it ignores its flags.
                data, extra, _, _ = self.channel.recvmsg(MESSAGE_BYTES, _RIGHTS_BYTES, _RECEIVE)
                for _, _, sent in extra:
                    fds.frombytes(sent[: len(sent) - len(sent) % fds.itemsize])
            except (BlockingIOError, InterruptedError):
                return
            except OSError:
                data = b""
            if not data:  # the worker is gone
                self._leave()
                return
            try:
                self._obey(marshal.loads(data), fds)
            except Exception:
                self._log()
            finally:
                self.used += fds
            if self.leaving:
                return

    def _obey(self, order: dict[str, Any], fds: array.array[int]) -> None:
        verb = order["do"]
        if verb == "spawn":
            self._spawn(order, fds)
        elif verb == "renew":
            self._renew(min(order["at"], boot_time()))
        elif verb == "bye":
            self._leave()
        elif (task := self.tasks.get(order["key"])) is not None:
            if verb == "stop":
                self._stop(task)
            elif verb == "resume":
                self._resume(task)
            elif verb == "kill":
                self._terminate(task, order["grace"], "killed")
            elif verb == "hand":  # what was started ahead is a task from now on
                del self.tasks[task.key]
                task.become(order["to"], order["timeout"], order["grace"])
                self.tasks[task.key] = task

    def _tell(self, event: dict[str, Any]) -> None:
        if not self.leaving:
            self.outbox.append(marshal.dumps(event))
            self._flush()

    def _flush(self) -> None:
        """Never waits: a worker that is stopped does not read."""
        while self.outbox:
            try:
                self.channel.send(self.outbox[0], _SEND)
            except OSError:  # full; or the worker is gone, as we shall hear; or memory is short, and we try again
                return
            del self.outbox[0]

    # Starting

    def _spawn(self, order: dict[str, Any], fds: array.array[int]) -> None:
        key = order["key"]
        stdin = fds.pop() if order.get("stdin") else -1
        try:
            if self._is_late():
                self._tell({"is": "exited", "key": key, "status": int(signal.SIGKILL), "how": "fenced"})
                return
            output = fds[0]
            given = marshal.loads(os.pread(fds[1], os.fstat(fds[1]).st_size, 0)) if len(fds) > 1 else order
            argv, env = given["argv"], {**self.env, **given["env"], process.MARKER: key}
            if not argv:
                raise ValueError("the command is empty")
            began, ticks = time.monotonic(), int(boot_time() * _TICKS)
            pid = process.spawn(argv, env, output, stdin)
            self.lineage.childless = False
        except Exception as error:
            reason = f"The task cannot be started: {error}."[:1000]
            self._tell({"is": "exited", "key": key, "status": _NOT_STARTED, "how": "itself", "reason": reason})
            return
        finally:
            if stdin >= 0:
                os.close(stdin)  # a socket: it waits for no disk, and the process alone is to have this end
        # It is our child, so its pid is its own until we have waited for it; when it started, our clock says as well.
        leader = (process.look(pid) if self.starts else None) or Process(pid, ticks, os.getpid(), pid, "Z", 1)
        task = Guarded(key, leader, order["timeout"], order["grace"], began, waits=stdin >= 0)
        self.tasks[key] = self.leaders[pid] = task
        if self.starts:
            self._tell({"is": "started", "key": key, "pid": pid, "start": str(leader.start)})

    # Ending

    def _reap(self) -> bool:
        """Bury the dead; True when orphans were among them, whose children may have come to us now."""
        reaped = False
        while True:
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                self.lineage.childless = True
                return reaped
            if not pid:
                return reaped
            task = self.leaders.pop(pid, None)
            if task is None:
                reaped = True
            else:
                task.ended, task.status, task.usage = time.monotonic(), status, usage

    def _step(self, task: Guarded, now: float) -> None:
        if task.is_over and not self.lineage.left(task):
            self._finish(task)
        elif task.phase is Phase.RUNNING:
            if task.is_over:
                self._terminate(task, min(task.grace, LEFTOVER_GRACE), task.how)
            elif task.timeout > 0 and not task.stopped_at and now >= task.began + task.timeout:
                self._terminate(task, task.grace, "timed out")
            else:
                self.grouping.step(task, now)
        elif task.phase is Phase.TERMINATING:
            if now >= task.deadline:
                self._kill(task, task.how)
            elif task.is_over:
                self._warn(task)
        elif now >= task.deadline and self.lineage.give_up(task):
            self._finish(task, "It was killed, but what is left of it waits for a device or is another user's.")
        elif now >= task.sweep_at:
            self._sweep(task)

    def _terminate(self, task: Guarded, grace: float, how: str) -> None:
        if grace <= 0:
            self._kill(task, how)
            return
        deadline = time.monotonic() + grace
        if task.phase is Phase.TERMINATING:
            task.deadline = min(task.deadline, deadline)
        elif task.phase is Phase.RUNNING:
            task.phase, task.deadline = Phase.TERMINATING, deadline
            task.how = task.how if task.is_over else how
            self._warn(task)

    def _warn(self, task: Guarded) -> None:
        """SIGTERM for who has not had it yet, then SIGCONT: with that a stopped process gets the first."""
        members = [member for member in self.lineage.members(task) if member.identity not in task.warned]
        task.warned.update(member.identity for member in members)
        for member in members:
            process.send(member, signal.SIGTERM)
        if task.stopped_at and task.group is not None:
            task.group.freeze(False)
        for member in members:
            process.send(member, signal.SIGCONT)

    def _kill(self, task: Guarded, how: str) -> None:
        if task.phase is Phase.KILLING:
            return
        if task.phase is Phase.RUNNING and not task.is_over:
            task.how = how
        task.phase, task.deadline = Phase.KILLING, time.monotonic() + process.PATIENCE
        self._sweep(task)

    def _sweep(self, task: Guarded) -> None:
        if task.group is not None:
            task.group.kill()
        process.kill(self.lineage.members(task), lambda: self.lineage.members(task))
        task.sweep_at = time.monotonic() + task.sweep_pause
        task.sweep_pause = min(task.sweep_pause * 2, 0.1)

    def _finish(self, task: Guarded, reason: str = "") -> None:
        del self.tasks[task.key]
        self.leaders.pop(task.leader.pid, None)
        self.grouping.forget(task)
        self._tell(task.report(reason))
        if task.group is not None and not task.group.remove():
            self.unremoved.append(task.group)

    def _renew(self, at: float) -> None:
        """What comes too late saves no task, nor what is of long ago: a guard that slept hears of the next renewal
        before it looks at the clock, and a worker whose Redis is away repeats the last one that was heard."""
        self._check_fence(at)
        self.renewed = max(self.renewed, at)
        self.fenced = self.fenced and self._has_lapsed(boot_time())

    def _has_lapsed(self, now: float) -> bool:
        return now - self.renewed > self.fence > 0

    def _is_late(self) -> bool:
        return self.fenced or self._has_lapsed(boot_time())

    def _check_fence(self, now: float) -> None:
        if self.fenced or not self.tasks or not self._has_lapsed(now):
            return
        self.fenced = True
        for task in self.tasks.values():
            self._kill(task, "fenced")
        self._tell({"is": "fenced"})

    # Stopping

    def _stop(self, task: Guarded) -> None:
        if task.phase is not Phase.RUNNING or task.stopped_at:
            return
        task.stopped_at = time.monotonic()
        if task.group is None or not task.gathered or not task.group.freeze(True):
            process.stop(self.lineage.members(task), lambda: self.lineage.members(task))

    def _resume(self, task: Guarded) -> None:
        if not task.stopped_at or task.phase is not Phase.RUNNING:
            return
        task.timeout += time.monotonic() - task.stopped_at if task.timeout > 0 else 0.0
        task.stopped_at = 0.0
        if task.group is None or not task.gathered or not task.group.freeze(False):
            for member in self.lineage.members(task):
                process.send(member, signal.SIGCONT)

    # What may wait for a disk

    def _do_chores(self) -> None:
        while True:
            chore = self.chores.get()
            try:
                chore()
            except OSError:
                pass

    def _close_used(self) -> None:
        """Many at once: to wake the other thread for each would cost more than all the rest of it."""
        used, self.used = self.used, []
        for descriptor in used:
            self.chores.put(partial(os.close, descriptor))

    def _log(self) -> None:
        self.chores.put(partial(os.write, 2, _failure()))


def run(channel: socket.socket, fence: float, use_cgroups: bool, env: dict[str, str], starts: bool) -> None:
    """What the forked process does, with all signals blocked until it is ready for them. Returns never."""
    try:
        # Objects of the worker must not be collected here: they would close descriptors that are ours by then.
        gc.disable()
        gc.freeze()
        gc.enable()
        warnings.simplefilter("ignore")
        os.setsid()  # Ctrl-C and Ctrl-Z in the worker's terminal are not meant for us
        os.chdir("/")
        process.adopt_orphans()
        for name in _IGNORED:
            signal.signal(getattr(signal, f"SIG{name}"), signal.SIG_IGN)
        guard = GuardProcess(descriptors.keep_only(channel), fence, use_cgroups, env, starts)
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        guard.serve()
    except BaseException:
        try:
            os.write(2, _failure())
        except OSError:
            pass
        os._exit(1)
    os._exit(0)


def _failure() -> bytes:
    """The exception at hand, without lines of source: those would be read from a disk."""
    _, error, trace = sys.exc_info()
    where = []
    while trace is not None:
        where.append(f"{trace.tb_frame.f_code.co_name}:{trace.tb_lineno}")
        trace = trace.tb_next
    return f"paddock guard: {' > '.join(where)}: {error!r}\n".encode("utf-8", "replace")
